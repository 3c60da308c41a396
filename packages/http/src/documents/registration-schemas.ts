import { componentRef, type Json, pascalCase } from './openapi-json.ts'

/** The schemas of a registered agent or workflow in the document. */
export interface DescribedRegistration {
  readonly kind: 'agent' | 'workflow'
  readonly id: string
  readonly inputSchema?: Json | undefined
  readonly outputSchema?: Json | undefined
}

interface Document extends Json {
  readonly components: Json & { readonly schemas: Readonly<Record<string, Json>> }
}

/** The schemas whose member holds the input, or the result, of any run. */
const USES = [
  { kind: 'agent', side: 'Input', schema: 'RunRequest', member: 'input' },
  { kind: 'agent', side: 'Output', schema: 'RunOutcome', member: 'result' },
  { kind: 'workflow', side: 'Input', schema: 'ExecuteRequest', member: 'input' },
  { kind: 'workflow', side: 'Output', schema: 'WorkflowOutcome', member: 'result' },
] as const

interface Named {
  readonly name: string
  readonly kind: DescribedRegistration['kind']
  readonly side: 'Input' | 'Output'
  readonly schema: Json
}

/** Adds a named schema for the input and for the output of each registration, and lists it where the value is sent. */
export function withRegistrations(document: Json, registrations: readonly DescribedRegistration[]): Json {
  const { components } = document as Document
  const named = namedSchemas(registrations, new Set(Object.keys(components.schemas)))
  if (named.length === 0) return document
  const own = Object.fromEntries(named.map(({ name, schema }) => [name, schema]))
  const used = USES.flatMap(({ kind, side, schema, member }) => {
    const refs = named.filter((one) => one.kind === kind && one.side === side)
    return refs.length === 0 ? [] : [[schema, listing(components.schemas[schema], member, refs)] as const]
  })
  return {
    ...document,
    components: { ...components, schemas: { ...components.schemas, ...Object.fromEntries(used), ...own } },
  }
}

function namedSchemas(registrations: readonly DescribedRegistration[], taken: Set<string>): readonly Named[] {
  return registrations.flatMap(({ kind, id, inputSchema, outputSchema }) =>
    (['Input', 'Output'] as const).flatMap((side) => {
      const schema = side === 'Input' ? inputSchema : outputSchema
      if (schema === undefined) return []
      const name = freeName(pascalCase(`${id}-${kind}-${side}`), taken)
      return [{ name, kind, side, schema: component(schema, { name, description: `${side} of the ${kind} ${id}.` }) }]
    }),
  )
}

/** Two ids can differ only in their punctuation. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let count = 2; taken.has(free); count++) free = `${name}${count}`
  taken.add(free)
  return free
}

function component(
  { $schema: _, ...schema }: Json,
  { name, description }: { name: string; description: string },
): Json {
  return { description, ...(movedTo(`#/components/schemas/${name}`, schema) as Json) }
}

/** References within a schema start at its root, which is now a component of the document. */
function movedTo(root: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => movedTo(root, item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === '$ref' && typeof member === 'string' && member.startsWith('#')
        ? root + member.slice(1)
        : movedTo(root, member),
    ]),
  )
}

/** The member accepts any value, because a server can have registrations without a schema. */
function listing(schema: Json = {}, member: string, refs: readonly Named[]): Json {
  const properties = (schema.properties ?? {}) as Readonly<Record<string, Json>>
  const anyOf = [...refs.map(({ name }) => componentRef('schemas', name)), {}]
  return { ...schema, properties: { ...properties, [member]: { ...properties[member], anyOf } } }
}
