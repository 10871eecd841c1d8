// How lines are read, as the engine reads them (koster._engine.lexer, dialect RFC9309): the text before #
// is a directive and its value, parted by a colon; without one, exactly two words are.

const RULES = ["allow", "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw"];
const AGENTS = ["user-agent", "useragent", "user agent"];
const OTHERS = [
  "sitemap", "sitemaps", "site-map", "crawl-delay", "request-rate", "visit-time", "comment", "robot-version",
  "content-signal", "content-usage", "host", "clean-param", "noindex", "license"];

/** The kind of each directive's value, by the spellings of the directive. */
export const VALUES = new Map([
  ...RULES.map((each) => [each, "path"]), ...AGENTS.map((each) => [each, "agent"]), ...OTHERS.map((each) => [each, "value"])]);

/** Codes of findings on rules without effect. */
const WITHOUT_EFFECT = new Set(["S001", "S002", "S003", "S004", "S005", "S009", "S010", "P001", "P002"]);
/** Codes of findings on User-agent lines that no crawler looks for. */
const UNUSED = new Set(["G005", "G006", "G007", "G013"]);
const BEFORE_GROUPS = "G001";

// ASCII white space: others are part of a word.
const SPACE = " \t\n\r\v\f";
const FIRST = /[^ \t\n\r\v\f]/;
const TWO_WORDS = /^([^ \t]+)[ \t]+[^ \t]+$/;
const NAME = /^[A-Za-z -]+$/;
// Wildcards of longer paths are not marked: each is an element.
const MARKED = 2000;

/** Return where the text of a line ends without the space before an offset. */
function trimmed(line, offset) {
  let end = offset;
  while (end > 0 && SPACE.includes(line[end - 1])) end -= 1;
  return end;
}

/** Return where the parts of a line are: directive, value and comment, and the kind of the value ("unknown", "invalid"). */
function read(line) {
  const hash = line.indexOf("#");
  const comment = hash < 0 ? line.length : hash;
  const first = line.slice(0, comment).search(FIRST);
  if (first < 0) return { kind: "blank", start: comment, end: comment, value: comment, stop: comment, comment };
  const stop = trimmed(line, comment);
  const colon = line.slice(0, comment).indexOf(":");
  const words = colon < 0 ? TWO_WORDS.exec(line.slice(first, stop)) : null;
  const separator = words ? first + words[1].length : colon;
  const end = Math.max(first, trimmed(line, separator));
  if (separator < 0 || end === first) return { kind: "invalid", start: first, end: stop, value: stop, stop, comment };
  const gap = line.slice(separator + 1, stop).search(FIRST);
  const name = line.slice(first, end);
  const kind = (NAME.test(name) && VALUES.get(name.toLowerCase())) || "unknown";
  return { kind, start: first, end, value: gap < 0 ? stop : separator + 1 + gap, stop: Math.max(stop, separator + 1), comment };
}

/** Return the parts of a line, each with its kind and its text, which together are the line. */
export function parts(line) {
  const { kind, start, end, value, stop, comment } = read(line);
  const known = kind === "path" || kind === "agent" || kind === "value";
  return [
    ["space", line.slice(0, start)],
    [known ? "directive" : kind, line.slice(start, end)],
    ["space", line.slice(end, value)],
    ...(kind === "path" ? pathParts(line.slice(value, stop)) : [[known ? kind : "unknown", line.slice(value, stop)]]),
    ["space", line.slice(stop, comment)],
    ["comment", line.slice(comment)]].filter(([, text]) => text);
}

function pathParts(path) {
  if (path.length > MARKED) return [["path", path]];
  return path.split(/(\*+|\$$)/).map((text, at) => [at % 2 ? "wildcard" : "path", text]);
}

/** Return the numbers of the lines without effect, given the findings about a text. */
export function linesWithoutEffect(text, findings) {
  const found = new Set(findings.filter((each) => WITHOUT_EFFECT.has(each.code)).map((each) => each.line));
  const unused = new Set(findings.filter((each) => UNUSED.has(each.code)).map((each) => each.line));
  const hasOrphans = findings.some((each) => each.code === BEFORE_GROUPS);
  if (!unused.size && !hasOrphans) return found;
  // A group is the User-agent lines up to the first rule, and the rules up to the next User-agent line.
  let group = { agents: [], rules: [] };
  const end = () => {
    if (group.agents.every((line) => unused.has(line))) for (const line of [...group.agents, ...group.rules]) found.add(line);
  };
  text.split("\n").forEach((line, at) => {
    const { kind } = read(line);
    if (kind === "agent" && group.rules.length) {
      end();
      group = { agents: [], rules: [] };
    }
    if (kind === "agent") group.agents.push(at + 1);
    if (kind === "path") group.rules.push(at + 1);
  });
  end();
  return found;
}
