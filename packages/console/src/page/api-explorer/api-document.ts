/** The part of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly paths: Readonly<Record<string, ApiPath>>
  readonly components?: {
    readonly schemas?: Readonly<Record<string, ApiSchema>>
    readonly parameters?: Readonly<Record<string, ApiParameter>>
    readonly responses?: Readonly<Record<string, ApiResponse>>
  }
}

interface Reference {
  readonly $ref: string
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** Parameters of all operations of a path, and the operations by method. */
type ApiPath = { readonly parameters?: readonly (ApiParameter | Reference)[] } & {
  readonly [Name in Method]?: ApiOperation
}

interface ApiResponse {
  readonly description?: string
  readonly content?: Readonly<Record<string, ApiContent>>
}

export interface ApiOperation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly (ApiParameter | Reference)[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, ApiContent>> }
  readonly responses?: Readonly<Record<string, ApiResponse | Reference>>
}

export interface ApiParameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
}

interface ApiContent {
  readonly schema?: ApiSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

export interface ApiSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, ApiSchema>>
  readonly required?: readonly string[]
  readonly items?: ApiSchema
  readonly anyOf?: readonly ApiSchema[]
  readonly oneOf?: readonly ApiSchema[]
  readonly example?: unknown
  readonly examples?: readonly unknown[]
}

/** A description of the document as plain text: it marks code with backticks. */
export const plainText = (text = ''): string => text.replaceAll('`', '')

/** An operation with its address, without references to parameters and responses. */
export interface ListedOperation extends Omit<ApiOperation, 'parameters' | 'responses'> {
  readonly method: string
  readonly path: string
  readonly parameters: readonly ApiParameter[]
  readonly responses: Readonly<Record<string, ApiResponse>>
}

const METHODS: readonly Method[] = ['get', 'post', 'put', 'patch', 'delete']

export const operationsOf = ({ paths, components }: ApiDocument): readonly ListedOperation[] =>
  Object.entries(paths).flatMap(([path, shared]) =>
    METHODS.flatMap((method) => {
      const operation = shared[method]
      if (operation === undefined) return []
      const parameters = [...(shared.parameters ?? []), ...(operation.parameters ?? [])]
      const responses = Object.entries(operation.responses ?? {})
      return [
        {
          ...operation,
          ...{ method: method.toUpperCase(), path },
          parameters: parameters.flatMap((one) => targetOf(one, components?.parameters) ?? []),
          responses: Object.fromEntries(
            responses.map(([status, one]) => [status, targetOf(one, components?.responses) ?? {}]),
          ),
        },
      ]
    }),
  )

/** The component that a reference names. */
const targetOf = <Target extends object>(
  one: Target | Reference,
  components: Readonly<Record<string, Target>> | undefined,
): Target | undefined => ('$ref' in one ? components?.[String(one.$ref).split('/').at(-1) ?? ''] : one)

const REF = '#/components/schemas/'

/** The schema behind a reference, with its name. */
export function resolved(
  document: ApiDocument,
  schema: ApiSchema,
): { readonly schema: ApiSchema; readonly name?: string } {
  if (!schema.$ref?.startsWith(REF)) return { schema }
  const name = schema.$ref.slice(REF.length)
  return { schema: document.components?.schemas?.[name] ?? {}, name }
}

/** The example of a JSON request body, as the start of a text. */
export function bodyExample(
  document: ApiDocument,
  { requestBody }: Pick<ApiOperation, 'requestBody'>,
): string | undefined {
  const content = requestBody?.content?.['application/json']
  if (content === undefined) return undefined
  const { schema } = resolved(document, content.schema ?? {})
  const example =
    content.example ?? Object.values(content.examples ?? {})[0]?.value ?? schema.example ?? schema.examples?.[0] ?? {}
  return JSON.stringify(example, undefined, 2)
}

/** The URL of a request, relative to the API. @throws Error that names a missing parameter */
export function requestPath(
  operation: Pick<ListedOperation, 'path' | 'parameters'>,
  values: Readonly<Record<string, string>>,
): string {
  const query = new URLSearchParams()
  let path = operation.path
  for (const { name, in: place, required } of operation.parameters) {
    const value = values[name] ?? ''
    if (value === '') {
      if (required === true && place !== 'header') throw new Error(`${name} is missing`)
    } else if (place === 'path') path = path.replace(`{${name}}`, encodeURIComponent(value))
    else if (place === 'query') query.append(name, value)
  }
  const search = query.toString()
  return search === '' ? path : `${path}?${search}`
}
