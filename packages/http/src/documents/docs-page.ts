import { ERRORS, type ErrorSpec, GROUP_SUMMARIES, type Operation } from '@perdure/protocol'
import type { DocsPage } from '../console/console-data.ts'
import { type TextAnswer, textAnswer } from '../response/text-answer.ts'
import { descriptionOf, tagOf } from './openapi.ts'

const LIST_MARK = '%LIST%'

/** The page that shows the API, with a list of the operations and errors for readers without JavaScript. */
export const docsAnswer = (page: DocsPage, operations: readonly Operation[]): TextAnswer =>
  textAnswer(
    page.html.replace(LIST_MARK, () => listOf(operations)),
    200,
    {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': policyOf(page),
      'Cross-Origin-Opener-Policy': 'same-origin',
    },
  )

/** Allows only the style and the script inside the page, and requests to this server. */
const policyOf = ({ styleSource, scriptSource }: DocsPage): string =>
  [
    "default-src 'none'",
    `script-src ${scriptSource}`,
    `style-src ${styleSource}`,
    'img-src data:',
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; ')

const listOf = (operations: readonly Operation[]): string =>
  [
    '<main><h1>Operations</h1>',
    '<p>The schemas are in <a href="openapi.json">openapi.json</a>. To call operations here, enable JavaScript.</p>',
    ...[...Map.groupBy(operations, tagOf)].map(
      ([tag, ofTag]) =>
        `<h2>${tag}</h2><p>${marked(GROUP_SUMMARIES[tag] ?? '')}</p>${ofTag.map(operationText).join('')}`,
    ),
    '<h2>Errors</h2><table>',
    ...Object.entries<ErrorSpec>(ERRORS).map(errorRow),
    '</table></main>',
  ].join('\n')

const operationText = (operation: Operation): string => {
  const { id, method, path, summary } = operation
  const template = path.replace(/:(\w+)/g, '{$1}')
  return `<details id="${id}"><summary>${method} <code>${template}</code> ${marked(summary)}</summary><p>${marked(descriptionOf(operation))}</p></details>`
}

const errorRow = ([code, { status, summary, retryable }]: readonly [string, ErrorSpec]): string =>
  `<tr id="error-${code}"><th scope="row"><code>${code}</code></th><td>${status}</td><td>${marked(summary)}</td><td>${retryable ? 'a repeated request may succeed' : ''}</td></tr>`

/** Text with code in backticks, as HTML. */
const marked = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replace(/`([^`]*)`/g, '<code>$1</code>')
