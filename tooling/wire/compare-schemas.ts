import type { Schema } from './snapshot.ts'

/** `input`: clients write values of the schema. `output`: they read them. */
export type Side = 'input' | 'output'

/** The components to which references point, before and after. */
export interface Components {
  readonly before: Readonly<Record<string, Schema>>
  readonly after: Readonly<Record<string, Schema>>
}

const REFERENCE = /^#\/components\/schemas\/(.+)$/

/** Limits of which a larger value (1) or a smaller one (-1) accepts less. */
const LIMITS: Readonly<Record<string, 1 | -1>> = {
  minimum: 1,
  exclusiveMinimum: 1,
  minLength: 1,
  minItems: 1,
  minProperties: 1,
  maximum: -1,
  exclusiveMaximum: -1,
  maxLength: -1,
  maxItems: -1,
  maxProperties: -1,
}

/**
 * Returns the changes of a schema that can break a client written for the schema before, each with its place. A client
 * must ignore members, and accept values of an enumeration and forms of a value, that it does not know.
 */
export function breakingChanges(before: Schema, after: Schema, side: Side, components: Components): readonly string[] {
  const open = new Set<string>()
  const resolve = (schema: Schema, known: Readonly<Record<string, Schema>>): Schema => {
    const [, name] = REFERENCE.exec(String(schema.$ref)) ?? []
    return name === undefined ? schema : resolve(known[name] ?? {}, known)
  }

  const compare = (one: Schema, other: Schema, at: string): readonly string[] => {
    const pair = `${one.$ref} ${other.$ref}`
    if (one.$ref !== undefined && other.$ref !== undefined) {
      if (open.has(pair)) return []
      open.add(pair)
    }
    const [was, is] = [resolve(one, components.before), resolve(other, components.after)]
    const found =
      JSON.stringify(was) === JSON.stringify(is) && !JSON.stringify(was).includes('$ref')
        ? []
        : [...valuesOf(was, is, at), ...membersOf(was, is, at), ...formsOf(was, is, at)]
    open.delete(pair)
    return found
  }

  const valuesOf = (was: Schema, is: Schema, at: string): readonly string[] => {
    const [fewer, more] = side === 'input' ? [is, was] : [was, is]
    const lost = listOf(more.type).filter((type) => !includesType(listOf(fewer.type), type))
    // Without a type, a schema accepts every type.
    const isNarrower = listOf(fewer.type).length > 0 && (lost.length > 0 || listOf(more.type).length === 0)
    const gone = enumOf(was).filter((value) => enumOf(is).length > 0 && !enumOf(is).includes(value))
    const isClosed = side === 'input' && enumOf(was).length === 0 && enumOf(is).length > 0
    const tighter = side === 'output' ? [] : tighterLimits(was, is)
    return [
      ...(isNarrower ? [`${at}: type ${listOf(was.type)} became ${listOf(is.type)}`] : []),
      ...gone.map((value) => `${at}: value ${value} is gone`),
      ...(isClosed ? [`${at}: accepts only ${enumOf(is)}`] : []),
      ...tighter.map((keyword) => `${at}: ${keyword} ${was[keyword] ?? 'none'} became ${is[keyword]}`),
    ]
  }

  const membersOf = (was: Schema, is: Schema, at: string): readonly string[] => {
    const [members, now] = [schemasOf(was.properties), schemasOf(is.properties)]
    const required = new Set(listOf(side === 'input' ? is.required : was.required))
    const alsoRequired = new Set(listOf(side === 'input' ? was.required : is.required))
    const lost = [...required].filter((name) => !alsoRequired.has(name) && (side === 'input' || name in now))
    const isClosed = side === 'input' && was.additionalProperties !== false && is.additionalProperties === false
    const nested = (keyword: string) =>
      isSchema(was[keyword]) && isSchema(is[keyword]) ? compare(was[keyword], is[keyword], `${at}/${keyword}`) : []
    return [
      ...Object.keys(members)
        .filter((name) => !(name in now))
        .map((name) => `${at}: member ${name} is gone`),
      ...lost.map((name) => `${at}: member ${name} is ${side === 'input' ? 'now required' : 'no longer always there'}`),
      ...(isClosed ? [`${at}: refuses unknown members`] : []),
      ...Object.entries(members).flatMap(([name, schema]) =>
        now[name] === undefined ? [] : compare(schema, now[name], `${at}.${name}`),
      ),
      ...nested('items'),
      ...nested('additionalProperties'),
    ]
  }

  const formsOf = (was: Schema, is: Schema, at: string): readonly string[] =>
    ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
      const [forms, now] = [formList(was[keyword]), formList(is[keyword])]
      if (forms.length === 0 && (now.length === 0 || side === 'output')) return []
      if (forms.length === 0 || now.length === 0)
        return [`${at}: ${keyword} ${now.length === 0 ? 'is gone' : 'is new'}`]
      const lost = forms.filter((form) => now.every((other) => compare(form, other, at).length > 0))
      const nearest = lost.map(
        (form) => now.map((other) => compare(form, other, at)).toSorted((a, b) => a.length - b.length)[0],
      )
      return nearest.map((changes = []) => `${at}: a form of ${keyword} changed or is gone (${changes.join(', ')})`)
    })

  return compare(before, after, '')
}

const isSchema = (value: unknown): value is Schema => typeof value === 'object' && value !== null
const schemasOf = (value: unknown) => (isSchema(value) ? value : {}) as Readonly<Record<string, Schema>>
const formList = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value : [])
const listOf = (value: unknown): readonly string[] =>
  value === undefined ? [] : Array.isArray(value) ? value.map(String) : [String(value)]
const enumOf = ({ enum: values, const: only }: Schema): readonly string[] =>
  (Array.isArray(values) ? values : only === undefined ? [] : [only]).map((value) => JSON.stringify(value))
const includesType = (types: readonly string[], type: string) =>
  types.includes(type) || (type === 'integer' && types.includes('number'))

function tighterLimits(was: Schema, is: Schema): readonly string[] {
  const limits = Object.entries(LIMITS).filter(([keyword, sign]) => {
    const [earlier, now] = [was[keyword], is[keyword]]
    return typeof now === 'number' && (typeof earlier !== 'number' || (now - earlier) * sign > 0)
  })
  const forms = ['pattern', 'format'].filter((keyword) => is[keyword] !== undefined && is[keyword] !== was[keyword])
  return [...limits.map(([keyword]) => keyword), ...forms]
}
