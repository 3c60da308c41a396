import { type ApiDocument, type ApiSchema, limitsOf, resolved } from './api-document.ts'
import { Marked } from './marked.tsx'

const MAX_DEPTH = 6

export interface SchemaTreeProps {
  readonly document: ApiDocument
  readonly schema: ApiSchema
  readonly depth?: number
}

/** The members of a schema; members that have members of their own can be opened. */
export function SchemaTree({ document, schema: given, depth = 0 }: SchemaTreeProps) {
  const { schema } = resolved(document, given)
  const inner = schema.items === undefined ? schema : resolved(document, schema.items).schema
  const variants = inner.anyOf ?? inner.oneOf ?? []
  if (depth >= MAX_DEPTH) return null
  return (
    <ul class="plain schema">
      {Object.entries(inner.properties ?? {}).map(([name, member]) => (
        <li key={name}>
          <Member {...{ document, depth, name, schema: member }} isRequired={inner.required?.includes(name) === true} />
        </li>
      ))}
      {variants.map((variant, at) => (
        <li key={String(at)}>
          <Member {...{ document, depth, name: `variant ${at + 1}`, schema: variant }} isRequired={false} />
        </li>
      ))}
    </ul>
  )
}

interface MemberProps extends SchemaTreeProps {
  readonly name: string
  readonly isRequired: boolean
}

function Member({ document, schema: given, depth = 0, name, isRequired }: MemberProps) {
  const { schema, name: reference } = resolved(document, given)
  const inner = schema.items === undefined ? schema : resolved(document, schema.items).schema
  const hasMembers = inner.properties !== undefined || inner.anyOf !== undefined || inner.oneOf !== undefined
  const line = (
    <>
      <code>{name}</code> <span class="quiet">{typeText(document, schema, reference)}</span>
      {isRequired ? <span class="quiet"> required</span> : null}{' '}
      <Marked text={given.description ?? schema.description} /> <span class="quiet">{limitsOf(schema)}</span>
    </>
  )
  if (!hasMembers || depth + 1 >= MAX_DEPTH) return line
  return (
    <details>
      <summary>{line}</summary>
      <SchemaTree document={document} schema={schema} depth={depth + 1} />
    </details>
  )
}

function typeText(document: ApiDocument, schema: ApiSchema, name: string | undefined): string {
  if (schema.items !== undefined) {
    const item = resolved(document, schema.items)
    return `list of ${item.name ?? typeText(document, item.schema, undefined)}`
  }
  if (name !== undefined) return name
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  return [schema.type ?? 'any'].flat().join(' | ')
}
