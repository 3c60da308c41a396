/** The part of the OpenAPI document that the page uses. */
export interface OpenApiView {
  readonly info: { readonly title: string; readonly version: string; readonly summary: string }
  readonly servers: readonly { readonly url: string }[]
  readonly tags: readonly { readonly name: string; readonly description: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationView>>>>
  readonly components: { readonly parameters: Readonly<Record<string, ParameterView>> }
}

export interface OperationView {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly parameters: ReadonlyArray<ParameterView | { readonly $ref: string }>
  readonly requestBody?: { readonly required?: boolean; readonly content: ContentView }
  readonly responses: Readonly<Record<string, ResponseView>>
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
}

export type ContentView = Readonly<Record<string, { readonly schema: JsonSchema }>>

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
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly minItems?: number
  readonly maxItems?: number
}

/** Resolves a parameter that may be a reference. */
export const parameterOf = (
  parameter: OperationView['parameters'][number],
  { components }: Pick<OpenApiView, 'components'>,
): ParameterView => {
  if (!('$ref' in parameter)) return parameter
  const found = components.parameters[parameter.$ref.split('/').at(-1) ?? '']
  if (found === undefined) throw new Error(`the document has no ${parameter.$ref}`)
  return found
}
