# Ruby's webrobots as a subject: ruby.rb NAME [JSON]. The JSON overrides what "start" answers.
# It gets the file's bytes, as its own download does.
require "base64"
require "json"
require "webrobots"

SITE = "https://example.com"
NO_HOST = %r{\A(?![^/?])}
LONGEST_ERROR = 300

# Nothing but answers goes to standard output.
ANSWERS = $stdout.dup
$stdout.reopen($stderr)
ANSWERS.sync = true

ABOUT = {
  "name" => ARGV[0],
  "version" => Webrobots::VERSION,
  "language" => "Ruby",
  "dialects" => ["rfc9309"],
}.merge(JSON.parse(ARGV[1] || "{}"))

def decide(asked)
  body = Base64.decode64(asked["robots"])
  robots = WebRobots.new(asked["agent"], http_get: ->(_) { body.dup }, crawl_delay: :ignore)
  asked["urls"].map { |url| robots.allowed?(NO_HOST.match?(url) ? SITE + url : url) }
end

def one_line(error)
  "#{error.class}: #{error.message}".scrub.split.join(" ")[0, LONGEST_ERROR]
end

def reply(asked)
  return ABOUT if asked["cmd"] == "start"
  unless ABOUT["dialects"].include?(asked["dialect"])
    return { "id" => asked["id"], "skipped" => "does not claim to follow #{asked["dialect"]}" }
  end
  { "id" => asked["id"], "allowed" => decide(asked) }
rescue Exception => error # SystemStackError and its like are no StandardError.
  raise if error.is_a?(Interrupt)
  { "id" => asked["id"], "error" => one_line(error) }
end

$stdin.set_encoding("UTF-8")
$stdin.each_line do |line|
  # JSON.parse refuses half a surrogate pair.
  whole = line.gsub(/(\\\\|\\ud[89ab]..\\ud[c-f]..)|\\ud[89a-f]../i) { $1 || "\\ufffd" }
  asked = JSON.parse(whole)
  break if asked["cmd"] == "stop"
  ANSWERS.puts(JSON.generate(reply(asked)))
end
