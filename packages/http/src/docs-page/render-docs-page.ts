import type { ErrorSpec } from '@perdure/protocol'
import { type Html, html, prose, trusted } from './html.ts'
import type { OpenApiView } from './open-api-view.ts'
import { type OperationEntry, operationSection } from './operation-section.ts'
import { PAGE_SCRIPT, PAGE_SCRIPT_HASH, PAGE_STYLE, PAGE_STYLE_HASH } from './page-assets.ts'

type Errors = Readonly<Record<string, ErrorSpec>>

/** Inlined, so that browsers do not request /favicon.ico. */
const PAGE_ICON =
  "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><text y='13' font-size='13'>⚓</text></svg>"

/** Allows only the inlined style and script, and requests to this server. */
const POLICY = [
  "default-src 'none'",
  `script-src '${PAGE_SCRIPT_HASH}'`,
  `style-src '${PAGE_STYLE_HASH}'`,
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

export const DOCS_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
}

/**
 * Renders an OpenAPI document from `buildOpenApi` as one HTML page. It is readable without JavaScript; its script adds
 * search and "Try it".
 */
export function renderDocsPage(openApi: object, errors: Errors): string {
  const document = openApi as OpenApiView
  const { title, version, summary } = document.info
  const groups = groupsOf(document)
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} ${version}: operations</title>
<link rel="icon" href="${PAGE_ICON}">
<style>${trusted(PAGE_STYLE)}</style>
</head>
<body>
<a class="skip" href="#operations">Skip to the operations</a>
<header>
<h1>${title} <small>${version}</small></h1>
<p>${summary} Paths are relative to <code>${document.servers[0]?.url}</code>. Machine-readable: <a href="openapi.json">OpenAPI</a>, <a href="asyncapi.json">AsyncAPI</a>.</p>
<div class="controls" id="controls" hidden>
<label>Search <input id="search" type="search" autocomplete="off" spellcheck="false" placeholder="run, /sessions, agent-busy" aria-keyshortcuts="/"></label>
<label>Token <input id="token" type="password" autocomplete="off" spellcheck="false" placeholder="kept in this page only"></label>
<output id="count" aria-live="polite"></output>
</div>
<noscript><p>Search and “Try it” need JavaScript. Everything else works without it.</p></noscript>
</header>
<div class="columns">
<nav aria-label="Groups"><ul>${groups.map(groupLink)}<li><a href="#errors">errors</a></li></ul></nav>
<main id="operations" tabindex="-1">
${groups.map((group) => groupSection(group, document))}
${errorSection(errors)}
</main>
</div>
<script>${trusted(PAGE_SCRIPT)}</script>
</body>
</html>
`.markup
}

interface Group {
  readonly name: string
  readonly description: string
  readonly entries: readonly OperationEntry[]
}

function groupsOf({ tags, paths }: OpenApiView): readonly Group[] {
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  return tags.map(({ name, description }) => ({
    name,
    description,
    entries: entries.filter(({ operation }) => operation.tags.includes(name)),
  }))
}

const groupLink = ({ name, entries }: Group): Html =>
  html`<li><a href="#group-${name}">${name}</a> <small>${entries.length}</small></li>`

const groupSection = ({ name, description, entries }: Group, document: OpenApiView): Html =>
  html`<section class="group" id="group-${name}" aria-labelledby="heading-${name}">
<h2 id="heading-${name}">${name}</h2>
<p>${prose(description)}</p>
${entries.map((entry) => operationSection(entry, document))}
</section>
`

const errorSection = (errors: Errors): Html => html`<section id="errors" aria-labelledby="heading-errors">
<h2 id="heading-errors">errors</h2>
<p>An error response is <code>{ error, message, hint?, requestId }</code>. Branch on <code>error</code>: codes are permanent. The wording of <code>message</code> and <code>hint</code> may change.</p>
<div class="wide"><table><thead><tr><th scope="col">Error</th><th scope="col">Status</th><th scope="col">Meaning</th><th scope="col">Retry</th></tr></thead>
<tbody>${Object.entries(errors).map(errorRow)}</tbody></table></div>
</section>
`

const errorRow = ([error, { status, summary, retryable }]: readonly [string, ErrorSpec]): Html =>
  html`<tr id="error-${error}"><th scope="row"><code>${error}</code></th><td>${status}</td><td>${prose(summary)}</td><td>${retryable ? 'may succeed' : 'no'}</td></tr>`
