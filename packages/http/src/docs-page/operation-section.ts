import { type Html, html, prose } from './html.ts'
import {
  type ContentView,
  dereference,
  type OpenApiView,
  type OperationView,
  type ParameterView,
  type ResponseView,
  resolve,
} from './open-api-view.ts'
import { schemaText, shortSchemaText } from './schema-text.ts'

export interface OperationEntry {
  readonly method: string
  readonly path: string
  readonly operation: OperationView
}

/** Renders one operation, collapsed: required scope, parameters, body, responses. */
export function operationSection({ method, path, operation }: OperationEntry, document: OpenApiView): Html {
  const { operationId, summary, description, requestBody } = operation
  const parameters = operation.parameters.map((parameter) => {
    const found = resolve('parameters', parameter, document)
    return { ...found, schema: dereference(found.schema, document) }
  })
  const responses = Object.entries(operation.responses).map(
    ([status, response]) => [status, resolve('responses', response, document)] as const,
  )
  return html`<details class="operation" id="${operationId}" data-method="${method.toUpperCase()}" data-path="${path}">
<summary><span class="method ${method}">${method.toUpperCase()}</span> <code class="path">${path}</code> <span class="what">${prose(summary)}${stateOf(operation)}</span></summary>
<div class="body">
<p>${prose(description)} <span class="id"><code>${operationId}</code></span></p>
${parameters.length === 0 ? undefined : parameterTable(parameters)}
${requestBody === undefined ? undefined : html`<h4>Body</h4>${contentBlocks(requestBody.content, document)}`}
<h4>Responses</h4>
${successes(responses).map((answered) => answerBlock(answered, document))}
<h4>Errors</h4>
${errorList(responses)}
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

const contentBlocks = (content: ContentView, document: OpenApiView): readonly Html[] =>
  Object.entries(content).map(([mediaType, { schema, examples = {} }]) =>
    mediaType === 'application/json'
      ? html`<pre tabindex="0"><code>${schemaText(dereference(schema, document))}</code></pre>${Object.values(examples).map((example) => exampleBlock(resolve('examples', example, document).value))}`
      : html`<p><code>${mediaType}</code></p>`,
  )

const exampleBlock = (value: unknown): Html =>
  html`<details><summary>Example</summary><pre tabindex="0"><code>${JSON.stringify(value, undefined, 2)}</code></pre></details>`

type Answered = readonly [status: string, response: ResponseView]

const successes = (responses: readonly Answered[]): readonly Answered[] =>
  responses.filter(([, response]) => response['x-perdure-errors'] === undefined)

const answerBlock = ([status, { description, content }]: Answered, document: OpenApiView): Html =>
  html`<p><strong>${status}</strong> ${prose(description)}</p>${content === undefined ? undefined : contentBlocks(content, document)}`

const errorList = (responses: readonly Answered[]): Html =>
  html`<ul class="errors">${responses.flatMap(([status, { 'x-perdure-errors': errors = [] }]) => (errors.length === 0 ? [] : html`<li><strong>${status}</strong> ${errors.map(errorLink)}</li>`))}</ul>`

const errorLink = (error: string): Html => html`<a href="#error-${error}"><code>${error}</code></a> `
