import { element } from './element.ts'
import { fillInput } from './fill-input.ts'
import { send } from './send.ts'

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: Schema
}

interface Reference {
  readonly $ref: string
}

interface Schema {
  readonly $ref?: string
  readonly enum?: readonly unknown[]
}

type Content = Readonly<Record<string, { readonly examples?: Readonly<Record<string, Reference>> }>>

interface Operation {
  readonly operationId: string
  readonly parameters: ReadonlyArray<Parameter | Reference>
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>
    readonly schemas: Readonly<Record<string, Schema>>
    readonly examples: Readonly<Record<string, { readonly value: unknown }>>
  }
}

/** The component that a reference names. */
const target = <Component>({ $ref }: Reference, components: Readonly<Record<string, Component>>) =>
  components[$ref.split('/').at(-1) ?? '']

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
    '$ref' in one ? (target(one, components.parameters) ?? []) : one,
  )
  const fields = parameters.map((parameter) => {
    const { $ref } = parameter.schema
    const schema = $ref === undefined ? parameter.schema : target({ $ref }, components.schemas)
    return { parameter, input: inputOf(operation, { ...parameter, schema: schema ?? {} }) }
  })
  const body = bodyOf(operation, components.examples)
  fillInput(path, fields.find(({ parameter }) => parameter.in === 'path')?.input, body)
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

/** A field for the body, filled with the example of the document. */
function bodyOf(
  { requestBody }: Operation,
  examples: OpenApi['components']['examples'],
): HTMLTextAreaElement | undefined {
  if (requestBody === undefined) return undefined
  const [example] = Object.values(requestBody.content['application/json']?.examples ?? {})
  const area = element('textarea', { name: 'body', rows: '6', spellcheck: 'false' })
  if (example !== undefined) area.value = JSON.stringify(target(example, examples)?.value, undefined, 2)
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
