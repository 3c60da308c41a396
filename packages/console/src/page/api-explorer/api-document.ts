/** The part of an OpenAPI document that the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly summary?: string }
  readonly servers?: readonly { readonly url: string }[]
  readonly tags?: readonly { readonly name: string; readonly description?: string }[]
  readonly paths: Readonly<Record<string, ApiPath>>
  readonly components?: {
    readonly schemas?: Readonly<Record<string, ApiSchema>>
    readonly parameters?: Readonly<Record<string, ApiParameter>>
    readonly responses?: Readonly<Record<string, ApiResponse>>
    readonly examples?: Readonly<Record<string, ApiExample>>
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
  readonly 'x-perdure-errors'?: readonly string[]
}

export interface ApiOperation {
  readonly operationId: string
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly parameters?: readonly (ApiParameter | Reference)[]
  readonly requestBody?: { readonly content?: Readonly<Record<string, ApiContent>> }
  readonly responses?: Readonly<Record<string, ApiResponse | Reference>>
  /** Whether the server refuses every call, because the operation is not implemented. */
  readonly 'x-perdure-refused'?: boolean
}

export interface ApiParameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description?: string
  readonly schema?: ApiSchema
}

interface ApiExample {
  readonly value?: unknown
}

interface ApiContent {
  readonly schema?: ApiSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, ApiExample | Reference>>
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
  readonly default?: unknown
  readonly example?: unknown
  readonly examples?: readonly unknown[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

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
  { components }: Pick<ApiDocument, 'components'>,
  schema: ApiSchema,
): { readonly schema: ApiSchema; readonly name?: string } {
  if (!schema.$ref?.startsWith(REF)) return { schema }
  const name = schema.$ref.slice(REF.length)
  return { schema: components?.schemas?.[name] ?? {}, name }
}

/** The example of a JSON request body, as the start of a text. */
export function bodyExample(
  { components }: Pick<ApiDocument, 'components'>,
  { requestBody }: Pick<ApiOperation, 'requestBody'>,
): string | undefined {
  const content = requestBody?.content?.['application/json']
  if (content === undefined) return undefined
  const { schema } = resolved({ components }, content.schema ?? {})
  const [first] = Object.values(content.examples ?? {})
  const named = first === undefined ? undefined : targetOf(first, components?.examples)?.value
  return indented(content.example ?? named ?? schema.example ?? schema.examples?.[0] ?? {})
}

export const indented = (value: unknown): string => JSON.stringify(value, undefined, 2)

/** The media types of a successful answer. */
export function acceptsOf({ responses }: Pick<ListedOperation, 'responses'>): readonly string[] {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith('2'))
  return [...new Set(successes.flatMap(([, { content = {} }]) => Object.keys(content)))]
}

/** What a schema allows besides its type: `1 to 128 characters, default "a"`. */
export function limitsOf(schema: ApiSchema): string {
  const { format, pattern, minLength, maxLength, minimum, maximum, minItems, maxItems } = schema
  return [
    format,
    pattern === undefined ? undefined : `matches ${pattern}`,
    range(minLength, maxLength, ' characters'),
    range(minimum, maximum, ''),
    range(minItems, maxItems, ' items'),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
  ]
    .filter((text) => text !== undefined)
    .join(', ')
}

/** Omits the bounds of the safe integers: they stand for "any integer". */
function range(low: number | undefined, high: number | undefined, unit: string): string | undefined {
  const from = low === Number.MIN_SAFE_INTEGER ? undefined : low
  const to = high === Number.MAX_SAFE_INTEGER ? undefined : high
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`
  if (from !== undefined) return `at least ${from}${unit}`
  return to === undefined ? undefined : `at most ${to}${unit}`
}
