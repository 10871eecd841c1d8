// A robots.txt parser for Node.js as a subject: javascript.js NAME [JSON].
//
// NAME is the npm package, found through NODE_PATH; the JSON overrides what "start" answers. Each
// parser is asked the way its documentation shows: with bytes where it takes bytes, otherwise with
// UTF-8 text whose invalid bytes are replaced. A byte order mark stays.
"use strict";

const fs = require("fs");
const path = require("path");
const { pathToFileURL } = require("url");
const { Readable } = require("stream");

const SITE = "https://example.com";
const ORIGIN = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const NO_HOST = /^(?![^/?])/;
const LONGEST_ERROR = 300;

// The URL, with a host if it has none, for parsers that take no path.
function absolute(url) {
  return NO_HOST.test(url) ? SITE + url : url;
}

// The URL of the robots.txt that applies to this URL.
function robotsUrl(url) {
  try {
    return new URL("/robots.txt", absolute(url)).href;
  } catch {
    return SITE + "/robots.txt";
  }
}

// Path and query as they stand, for parsers that take no URL.
function pathOf(url) {
  const rest = url.replace(ORIGIN, "").split("#", 1)[0];
  return rest.startsWith("/") ? rest : "/" + rest;
}

// Some parsers are made for one site: keep one for each.
function bySite(make) {
  const made = new Map();
  return (url) => {
    const site = robotsUrl(url);
    if (!made.has(site)) made.set(site, make(site));
    return made.get(site);
  };
}

// NAME: (robots, agent) => (url) => true, false, or [verdict, line].
const PARSERS = {
  "robots-parser": (robots, agent) => {
    const library = require("robots-parser");
    const parserFor = bySite((site) => library(site, robots.toString()));
    return (url) => {
      const parser = parserFor(url);
      const line = parser.getMatchingLineNumber(absolute(url), agent);
      // It is undefined for what is no URL; isDisallowed is true for that.
      return [parser.isAllowed(absolute(url), agent) === true, line > 0 ? line : null];
    };
  },

  "robots-txt-parser": (robots, agent) => {
    const parser = require("robots-txt-parser")({ userAgent: agent });
    parser.parseRobots(SITE, robots.toString());
    return (url) => parser.canCrawlSync(url);
  },

  "robots-txt-guard": async (robots, agent) => {
    const parse = require("robots-txt-parse");
    const guard = require("robots-txt-guard")(await parse(Readable.from([robots])));
    return (url) => guard.isAllowed(agent, pathOf(url));
  },

  robots: (robots, agent) => {
    const { RobotsParser } = require("robots");
    const parser = new RobotsParser();
    // It splits what it fetches in the same way.
    parser.parse(robots.toString().split(/\r\n|\r|\n/));
    return (url) => parser.canFetchSync(agent, pathOf(url));
  },

  "@crawlee/utils": (robots, agent) => {
    const { RobotsTxtFile } = require("@crawlee/utils");
    const parserFor = bySite((site) => RobotsTxtFile.from(site, robots.toString()));
    return (url) => parserFor(url).isAllowed(absolute(url), agent);
  },

  exclusion: async (robots, agent) => {
    // What require() finds is no CommonJS, though package.json says so.
    const { RobotsTxt } = await import(pathToFileURL(fileOf("exclusion", "dist/index.js")));
    const parser = new RobotsTxt(robots.toString());
    return (url) => parser.isPathAllowed(pathOf(url), agent);
  },
};

// A file of a package, even if its package.json does not export it.
function fileOf(name, file) {
  const folders = (process.env.NODE_PATH || "").split(path.delimiter);
  return folders.map((each) => path.join(each, name, file)).find(fs.existsSync);
}

function versionOf(name) {
  return JSON.parse(fs.readFileSync(fileOf(name, "package.json"), "utf8")).version;
}

function oneLine(error) {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.split(/\s+/).join(" ").slice(0, LONGEST_ERROR);
}

async function decide(asked, prepare) {
  const ask = await prepare(Buffer.from(asked.robots, "base64"), asked.agent);
  const verdicts = asked.urls.map((url) => ask(url));
  if (!verdicts.some(Array.isArray)) return { allowed: verdicts.map(Boolean) };
  return { allowed: verdicts.map((each) => each[0]), lines: verdicts.map((each) => each[1]) };
}

async function reply(asked, about, prepare) {
  if (asked.cmd === "start") return about;
  if (!about.dialects.includes(asked.dialect)) {
    return { id: asked.id, skipped: `does not claim to follow ${asked.dialect}` };
  }
  try {
    return { id: asked.id, ...(await decide(asked, prepare)) };
  } catch (error) {
    return { id: asked.id, error: oneLine(error) };
  }
}

// Node's readline also ends lines at U+2028, which may stand in JSON.
async function* questions() {
  let rest = "";
  for await (const chunk of process.stdin.setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const asked of lines.map((line) => JSON.parse(line))) {
      if (asked.cmd === "stop") return;
      yield asked;
    }
  }
}

async function main() {
  const name = process.argv[2];
  const defaults = { name, version: versionOf(name), language: "JavaScript", dialects: ["rfc9309"] };
  const about = { ...defaults, ...JSON.parse(process.argv[3] || "{}") };
  // What a library prints goes to standard error.
  const answer = process.stdout.write.bind(process.stdout);
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for await (const asked of questions()) {
    answer(JSON.stringify(await reply(asked, about, PARSERS[name])) + "\n");
  }
}

main();
