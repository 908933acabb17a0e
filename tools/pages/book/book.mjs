// Writes a folder of Markdown pages as a book of HTML pages: node book.mjs DOCS STYLE FOLDER.
// README.md of DOCS lists the chapters in their order. `marked` renders. Faults have a line each: a page that
// README.md does not list, a link or an anchor that leads nowhere.
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path/posix";

// `require` looks in NODE_PATH, `import` does not.
const { marked } = createRequire(import.meta.url)("marked");
const [docs, style, folder] = process.argv.slice(2);
const faults = [];

const escape = (text) => text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
const htmlName = (page) => page.replace(/(^|\/)README\.md$/, "$1index.md").replace(/\.md$/, ".html");
const relative = (from, to) => path.relative(path.dirname(from), to) || ".";

/** Chapters of README.md in their order, itself first: {title, page, part, level}. Items are pages, headings parts. */
function readChapters() {
  const chapters = [];
  let part = "";
  for (const line of fs.readFileSync(`${docs}/README.md`, "utf8").split("\n")) {
    const chapter = /^( *)- \[(.*?)\]\((.*?)\)/.exec(line);
    if (chapter) chapters.push({ title: chapter[2], page: chapter[3], part, level: chapter[1].length / 2 });
    else if (/^# /.test(line)) chapters.push({ title: line.slice(2), page: "README.md", part, level: 0 });
    else if (/^## /.test(line)) part = line.slice(3);
  }
  return chapters;
}

/** Files below DOCS, as relative paths. */
function listFiles() {
  const files = [];
  const visit = (below) => {
    for (const entry of fs.readdirSync(path.join(docs, below), { withFileTypes: true })) {
      const file = path.join(below, entry.name);
      // A build system may pass files to tests as symbolic links.
      if (fs.statSync(path.join(docs, file)).isDirectory()) visit(file);
      else files.push(file);
    }
  };
  visit("");
  return files.sort();
}

/** Headings of a page, with GitHub's anchors: {text (HTML), level, id}. */
function headingsOf(tokens) {
  const slugger = new marked.Slugger();
  const plain = (token) => token.tokens ? token.tokens.map(plain).join("") : token.text ?? "";
  return tokens.filter((token) => token.type === "heading").map((token) => ({
    text: marked.parseInline(token.text), level: token.depth, id: slugger.slug(plain(token)),
  }));
}

const chapters = readChapters();
const files = listFiles();
const known = new Set(files);
for (const chapter of chapters) {
  chapter.html = htmlName(chapter.page);
  if (!known.has(chapter.page)) {
    faults.push(`README.md: ${chapter.page}: no such page`);
    continue;
  }
  chapter.tokens = marked.lexer(fs.readFileSync(path.join(docs, chapter.page), "utf8"));
  chapter.headings = headingsOf(chapter.tokens);
}
const chapterOf = new Map(chapters.map((chapter) => [chapter.page, chapter]));
if (chapterOf.size < chapters.length) faults.push("README.md: a page is listed twice");
for (const file of files) {
  if (file.endsWith(".md") && !chapterOf.has(file)) faults.push(`README.md: ${file} is missing`);
}

/** The file that a link of a page without its anchor means, relative to DOCS. */
function pageOf(page, file) {
  const to = file ? path.join(path.dirname(page), file) : page;
  const readme = path.join(to, "README.md");
  return chapterOf.has(readme) ? readme : to;
}

/** Where a link of a page leads in the book; null: to what only the sources have. */
function target(page, link) {
  if (/^[a-z]+:/.test(link)) return link;
  const [file, anchor] = link.split("#");
  const to = pageOf(page, file);
  if (to.startsWith("../")) return null;
  const chapter = chapterOf.get(to);
  if (!known.has(to)) faults.push(`${page}: ${link}: the book has no such page`);
  else if (anchor && !chapter?.headings?.some((heading) => heading.id === anchor)) faults.push(`${page}: ${link}: no such heading`);
  const html = chapter ? relative(htmlName(page), chapter.html) : relative(htmlName(page), to);
  return (file ? html : "") + (anchor ? `#${anchor}` : "");
}

function renderPage(chapter) {
  const renderer = new marked.Renderer();
  const table = renderer.table;
  let next = 0;
  Object.assign(renderer, {
    heading(text) {
      const { id, level } = chapter.headings[next++];
      return `<h${level} id="${id}"><a class="anchor" href="#${id}" aria-label="Link to this heading">#</a>${text}</h${level}>\n`;
    },
    link(href, title, text) {
      const to = target(chapter.page, href);
      if (to === null) return text;
      // A link text with the file name of a page becomes the page's title.
      const other = /^[\w./-]+\.md$/.test(text) && chapterOf.get(pageOf(chapter.page, href.split("#")[0]));
      return `<a href="${escape(to)}">${other ? escape(other.title) : text}</a>`;
    },
    codespan(code) {
      return `<code${code.length < 30 ? ' class="whole"' : ""}>${code}</code>`;
    },
    image(href, title, text) {
      return `<img src="${escape(target(chapter.page, href))}" alt="${escape(text)}" loading="lazy">`;
    },
    // Wide tables and code scroll separately, from the keyboard, too.
    table(header, body) {
      return `<div class="wide" tabindex="0" role="region" aria-label="Table">${table.call(this, header, body)}</div>\n`;
    },
    code(code) {
      return `<pre tabindex="0"><code>${escape(code)}\n</code></pre>\n`;
    },
  });
  return marked.parser(chapter.tokens, { ...marked.defaults, renderer });
}

/** All chapters by part; below another one only where the reader is there. */
function renderChapters(current) {
  const here = chapters.indexOf(current);
  const parents = [];  // of each chapter, by index
  chapters.forEach((chapter, i) => {
    let up = i - 1;
    while (up >= 0 && chapters[up].level >= chapter.level) up--;
    parents[i] = chapter.level ? up : -1;
  });
  const above = new Set([-1]);
  for (let i = here; i >= 0; i = parents[i]) above.add(i);
  let html = "", part = "";
  chapters.forEach((chapter, i) => {
    if (chapter.part !== part) {
      html += `${part && "</ul></details>"}<details${chapter.part === current.part || !current.part ? " open" : ""}>` +
        `<summary>${escape(chapter.part)}</summary><ul>`;
      part = chapter.part;
    }
    if (!above.has(parents[i])) return;
    const item = `<a href="${relative(current.html, chapter.html)}"${i === here ? ' aria-current="page"' : ""}>${escape(chapter.title)}</a>`;
    const sections = i !== here ? [] : chapter.headings.filter((heading) => heading.level === 2);
    const within = sections.map(({ id, text }) => `<li class="section"><a href="#${id}">${text.replace(/<\/?a\b[^>]*>/g, "")}</a></li>`).join("");
    html += part ? `<li class="level${chapter.level}">${item}</li>${within}\n` : `<p>${item}</p>\n`;
  });
  return `${html}</ul></details>`;
}

function renderBook(chapter, i) {
  const neighbour = (other, rel, word) => !other ? "" :
    `<a rel="${rel}" href="${relative(chapter.html, other.html)}"><small>${word}</small> ${escape(other.title)}</a>`;
  const title = chapter.headings.some((heading) => heading.level === 1) ? "" : `<h1>${escape(chapter.title)}</h1>\n`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(chapter.title)} - torc</title>
<link rel="stylesheet" href="${relative(chapter.html, "style.css")}">
</head>
<body>
<header><a href="${relative(chapter.html, "index.html")}">torc</a> <span>${escape(chapter.part)}</span> <a class="to-chapters" href="#chapters">Chapters</a></header>
<main>
${title}${renderPage(chapter)}<div class="turn">${neighbour(chapters[i - 1], "prev", "Previous")}${neighbour(chapters[i + 1], "next", "Next")}</div>
</main>
<nav id="chapters" aria-label="Chapters">
${renderChapters(chapter)}
</nav>
</body>
</html>
`;
}

const written = new Map();
chapters.forEach((chapter, i) => chapter.tokens && written.set(chapter.html, renderBook(chapter, i)));
if (faults.length > 0) {
  for (const fault of new Set(faults)) console.error(`book: ${fault}`);
  process.exit(1);
}
for (const file of files) {
  if (file.endsWith(".md") || ["BUILD", "book.toml"].includes(file)) continue;
  const content = fs.readFileSync(path.join(docs, file));
  written.set(file, file.endsWith(".html") ? content.toString().replace(/(href="[^":]*)\.md"/g, '$1.html"') : content);
}
written.set("style.css", fs.readFileSync(style));
for (const [file, content] of written) {
  fs.mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
  fs.writeFileSync(path.join(folder, file), content);
}
console.log(`${folder}: ${chapters.length} pages, ${written.size - chapters.length} other files`);
