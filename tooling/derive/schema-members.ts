interface SchemaShape {
  readonly type: string
  readonly entries?: Readonly<Record<string, SchemaShape>>
  readonly options?: readonly unknown[]
}

/** Lists the members of an object schema, optional ones with a question mark; for a variant, those of each option. */
export function schemaMembers(schema: object): string {
  const { entries, options } = schema as SchemaShape
  if (entries !== undefined) return `{ ${Object.entries(entries).map(nameOf).join(', ')} }`
  return (options ?? []).map((option) => schemaMembers(option as object)).join(' or ')
}

const nameOf = ([name, { type }]: readonly [string, SchemaShape]) => (type === 'optional' ? `${name}?` : name)
