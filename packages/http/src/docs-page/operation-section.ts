import { type Html, html, prose } from './html.ts'
import type { ContentView, OpenApiView, OperationView, ParameterView, ResponseView } from './open-api-view.ts'
import { parameterOf } from './open-api-view.ts'
import { schemaText, shortSchemaText } from './schema-text.ts'

export interface OperationEntry {
  readonly method: string
  readonly path: string
  readonly operation: OperationView
}

/** Renders one operation, collapsed: required scope, parameters, body, responses. */
export function operationSection({ method, path, operation }: OperationEntry, document: OpenApiView): Html {
  const { operationId, summary, description, requestBody } = operation
  const parameters = operation.parameters.map((parameter) => parameterOf(parameter, document))
  return html`<details class="operation" id="${operationId}" data-method="${method.toUpperCase()}" data-path="${path}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code class="path">${path}</code> <span class="what">${prose(summary)}${stateOf(operation)}</span></summary>
<div class="body">
<p>${prose(description)} <span class="id"><code>${operationId}</code></span></p>
${parameters.length === 0 ? undefined : parameterTable(parameters)}
${requestBody === undefined ? undefined : html`<h4>Body</h4>${contentBlocks(requestBody.content)}`}
<h4>Responses</h4>
${successes(operation).map(answerBlock)}
<h4>Errors</h4>
${errorList(operation)}
</div>
</details>
`
}

const stateOf = (operation: OperationView): Html | undefined =>
  operation['x-perdure-refused'] === true ? html` <em>not implemented: always 501</em>` : undefined

const parameterTable = (parameters: readonly ParameterView[]): Html => html`<h4>Parameters</h4>
<div class="wide"><table><thead><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead>
<tbody>${parameters.map(parameterRow)}</tbody></table></div>`

const parameterRow = ({ name, in: location, required, schema, description }: ParameterView): Html =>
  html`<tr><th scope="row"><code>${name}</code></th><td>${location}${required === true ? ', required' : undefined}</td><td><code>${shortSchemaText(schema)}</code></td><td>${prose(description ?? '')}</td></tr>`

const contentBlocks = (content: ContentView): readonly Html[] =>
  Object.entries(content).map(([mediaType, { schema }]) =>
    mediaType === 'application/json'
      ? html`<pre tabindex="0"><code>${schemaText(schema)}</code></pre>`
      : html`<p><code>${mediaType}</code></p>`,
  )

type Answered = readonly [status: string, response: ResponseView]

const successes = ({ responses }: OperationView): readonly Answered[] =>
  Object.entries(responses).filter(([, response]) => errorsOf(response).length === 0)

const answerBlock = ([status, { description, content }]: Answered): Html =>
  html`<p><strong>${status}</strong> ${prose(description)}</p>${content === undefined ? undefined : contentBlocks(content)}`

const errorList = ({ responses }: OperationView): Html =>
  html`<ul class="errors">${Object.entries(responses)
    .filter(([, response]) => errorsOf(response).length > 0)
    .map(([status, response]) => html`<li><strong>${status}</strong> ${errorsOf(response).map(errorLink)}</li>`)}</ul>`

const errorLink = (error: string): Html => html`<a href="#error-${error}"><code>${error}</code></a> `

/** The error codes of a response; empty if it is not an error response. */
const errorsOf = ({ content }: ResponseView): readonly string[] =>
  (content?.['application/json']?.schema.properties?.error?.enum ?? []) as readonly string[]
