import { element } from './element.ts'
import { type ExampleSchema, exampleOf } from './example-of.ts'
import { send } from './send.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: ExampleSchema
}

type Content = Readonly<Record<string, { readonly schema: ExampleSchema }>>

interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Parameter | { readonly $ref: string }>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

/** Adds a request form to an operation when it is expanded. The document is fetched once, on first use. */
export function enableTryIt(): void {
  let loading: Promise<OpenApi> | undefined
  for (const details of document.querySelectorAll<HTMLDetailsElement>('details.operation')) {
    const add = async () => {
      details.removeEventListener('toggle', add)
      loading ??= fetch('openapi.json', { credentials: 'omit' }).then((response) => response.json())
      try {
        addForm(details, await loading)
      } catch (error) {
        loading = undefined
        details.addEventListener('toggle', add)
        details.append(element('p', { role: 'alert' }, `Could not load openapi.json: ${String(error)}`))
      }
    }
    details.addEventListener('toggle', add)
  }
}

function addForm(details: HTMLDetailsElement, { paths, components }: OpenApi): void {
  const { method = '', path = '' } = details.dataset
  const operation = paths[path]?.[method.toLowerCase()]
  if (operation === undefined || operation.responses[101] !== undefined) return
  const parameters = operation.parameters.flatMap((one) =>
    '$ref' in one ? (components.parameters[one.$ref.split('/').at(-1) ?? ''] ?? []) : one,
  )
  const fields = parameters.map((parameter) => ({ parameter, input: inputOf(operation, parameter) }))
  const body = bodyOf(operation)
  const accept = acceptOf(operation)
  const button = element('button', { type: 'submit' }, 'Send')
  const stop = element('button', { type: 'button', disabled: '' }, 'Stop')
  const answer = element('div', { class: 'answer', 'aria-live': 'polite' })
  const form = element('form', { class: 'try', 'aria-label': `Try ${operation.operationId}`, novalidate: '' })
  form.append(element('h4', {}, 'Try it'))
  for (const { parameter, input } of fields) form.append(labelled(parameter.name, input))
  if (body !== undefined) form.append(labelled('Body', body))
  if (accept !== undefined) form.append(labelled('Accept', accept))
  form.append(element('p', {}, button, ' ', stop), answer)
  details.querySelector('.body')?.append(form)

  const stopped = { current: new AbortController() }
  stop.addEventListener('click', () => stopped.current.abort())
  form.addEventListener('submit', async (event) => {
    event.preventDefault()
    stopped.current.abort()
    stopped.current = new AbortController()
    const { signal } = stopped.current
    stop.toggleAttribute('disabled', false)
    const values = fields.map(({ parameter, input }) => ({ ...parameter, value: input.value }))
    await send({ method, path, values, body: body?.value, accept: accept?.value, signal }, answer)
    if (!signal.aborted || stopped.current.signal === signal) stop.toggleAttribute('disabled', true)
  })
}

function inputOf(
  { operationId }: Operation,
  { name, required, schema }: Parameter,
): HTMLInputElement | HTMLSelectElement {
  const attributes = { name, ...(required === true ? { required: '' } : {}) }
  const options = schema.enum
  if (options !== undefined) return selectOf(attributes, ['', ...options.map(String)])
  return element('input', { ...attributes, autocomplete: 'off', spellcheck: 'false', 'data-of': operationId })
}

function bodyOf({ requestBody }: Operation): HTMLTextAreaElement | undefined {
  const schema = requestBody?.content['application/json']?.schema
  if (schema === undefined) return undefined
  const area = element('textarea', { name: 'body', rows: '6', spellcheck: 'false' })
  area.value = JSON.stringify(exampleOf(schema), undefined, 2)
  return area
}

/** Selects the media type, if the operation offers several. */
function acceptOf({ responses }: Operation): HTMLSelectElement | undefined {
  const types = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.keys(content))
  const distinct = [...new Set(types)]
  return distinct.length < 2 ? undefined : selectOf({ name: 'accept' }, distinct)
}

function selectOf(attributes: Readonly<Record<string, string>>, options: readonly string[]): HTMLSelectElement {
  const select = element('select', attributes)
  select.append(...options.map((option) => element('option', { value: option }, option)))
  return select
}

const labelled = (name: string, field: HTMLElement): HTMLElement => element('label', {}, `${name} `, field)
