import { isPlainObject } from '@perdure/protocol'
import { usageError } from '../cli-error.ts'
import type { Terminal } from '../terminal.ts'

/** The part of a JSON Schema that the prompts use. */
interface InputSchema {
  readonly properties?: Readonly<Record<string, { readonly type?: unknown; readonly description?: unknown }>>
  readonly required?: readonly string[]
}

/** The members that the schema requires and the input lacks; none for an input that is not an object. */
export function missingMembers(schema: InputSchema, input: unknown = {}): readonly string[] {
  if (!isPlainObject(input)) return []
  return (schema.required ?? []).filter((name) => !Object.hasOwn(input, name))
}

/** Asks for each missing member. @throws usage error for an answer that is not JSON where the schema asks for JSON */
export async function promptForMissing(terminal: Terminal, schema: InputSchema, input: unknown): Promise<unknown> {
  const missing = missingMembers(schema, input)
  if (missing.length === 0) return input
  const answers: Record<string, unknown> = {}
  for (const name of missing) {
    const member = schema.properties?.[name] ?? {}
    const about = [member.type, member.description].filter((text) => typeof text === 'string').join(': ')
    answers[name] = answerValue(name, member.type, await terminal.ask(`${name}${about === '' ? '' : ` (${about})`}: `))
  }
  return { ...(input as object | undefined), ...answers }
}

function answerValue(name: string, type: unknown, answer: string): unknown {
  if (type === 'string') return answer
  try {
    return JSON.parse(answer)
  } catch {
    // A schema without a type, such as a union, may accept text.
    if (type === undefined) return answer
    throw usageError(`${name} is not JSON: ${answer}`, `enter a value of the type ${String(type)}`)
  }
}

/** The command with an example of each missing member. */
export function missingHint(agent: string, schema: InputSchema, missing: readonly string[]): string {
  const example = Object.fromEntries(
    missing.map((name) => [name, EXAMPLES[String(schema.properties?.[name]?.type)] ?? '…']),
  )
  return `the input lacks ${missing.join(', ')}: perdure agents run ${agent} --input '${JSON.stringify(example)}'`
}

const EXAMPLES: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: true, array: [], object: {} }
