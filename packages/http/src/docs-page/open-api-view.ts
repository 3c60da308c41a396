/** The part of the OpenAPI document that the page uses. */
export interface OpenApiView {
  readonly info: { readonly title: string; readonly version: string; readonly summary: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationView>>>>
  readonly components: {
    readonly parameters: Readonly<Record<string, ParameterView>>
    readonly responses: Readonly<Record<string, ResponseView>>
    readonly schemas: Readonly<Record<string, JsonSchema>>
    readonly examples: Readonly<Record<string, ExampleView>>
  }
}

export interface OperationView {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: ReadonlyArray<ParameterView | Reference>
  readonly requestBody?: { readonly required?: boolean; readonly content: ContentView }
  readonly responses: Readonly<Record<string, ResponseView | Reference>>
  readonly 'x-perdure-refused'?: boolean
}

export interface ParameterView {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
}

export interface ResponseView {
  readonly description: string
  readonly content?: ContentView
  readonly 'x-perdure-errors'?: readonly string[]
}

export interface ExampleView {
  readonly value: unknown
}

export interface Reference {
  readonly $ref: string
}

export type ContentView = Readonly<
  Record<string, { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, ExampleView | Reference>> }>
>

export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly items?: JsonSchema
  readonly format?: string
  readonly pattern?: string
  readonly default?: unknown
  readonly description?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

type Components = OpenApiView['components']

/** Resolves a component that may be a reference. */
export function resolve<Kind extends keyof Components>(
  kind: Kind,
  component: Components[Kind][string] | Reference,
  { components }: Pick<OpenApiView, 'components'>,
): Components[Kind][string] {
  if (!isReference(component)) return component
  const found = components[kind][component.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the document has no ${component.$ref}`)
  return found as Components[Kind][string]
}

const isReference = (component: object): component is Reference => '$ref' in component

/** Replaces each reference in the schema by the schema that it names. The description beside a reference wins. */
export function dereference(schema: JsonSchema, document: Pick<OpenApiView, 'components'>): JsonSchema {
  const { $ref, ...own } = schema
  const whole: JsonSchema = $ref === undefined ? own : { ...resolve('schemas', { $ref }, document), ...own }
  const all = (schemas: readonly JsonSchema[] | undefined) => schemas?.map((one) => dereference(one, document))
  const { properties, items, additionalProperties, anyOf, oneOf, allOf } = whole
  const members = Object.entries(properties ?? {}).map(([name, one]) => [name, dereference(one, document)] as const)
  const resolved = {
    properties: properties === undefined ? undefined : Object.fromEntries(members),
    items: items === undefined ? undefined : dereference(items, document),
    additionalProperties:
      typeof additionalProperties === 'object' ? dereference(additionalProperties, document) : additionalProperties,
    anyOf: all(anyOf),
    oneOf: all(oneOf),
    allOf: all(allOf),
  }
  return { ...whole, ...Object.fromEntries(Object.entries(resolved).filter(([, value]) => value !== undefined)) }
}
