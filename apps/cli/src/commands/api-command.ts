import { isPlainObject, nearest, OPERATIONS, type Operation } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { id } from '../output/columns.ts'
import { methodOf } from './operation-command.ts'
import { readInput } from './read-input.ts'

export interface ApiFlags {
  readonly operation?: string
  readonly field?: Readonly<Record<string, string>>
  readonly input?: string
  readonly idempotencyKey?: string
}

/** Excludes the operations whose streams never end; `events tail` follows such streams. */
const CALLABLE = OPERATIONS.filter(
  ({ id, takesRaw }) => id !== 'realtime.open-ws' && id !== 'sessions.events' && takesRaw !== true,
)

export async function apiCommand(
  call: Call,
  { operation: id, field: fields = {}, input, idempotencyKey }: ApiFlags,
): Promise<void> {
  if (id === undefined) {
    listOperations(call)
    return
  }
  const operation = CALLABLE.find((one) => one.id === id)
  if (operation === undefined) throw unknownOperation(id)
  const { params, rest } = splitParams(operation, fields)
  const data = await inputOf(call, operation, { rest, input })
  const answer = await methodOf(call, operation.id)(...params, ...data, { idempotencyKey })
  await show(call, answer)
}

function listOperations({ out }: Call): void {
  const items = CALLABLE.map(({ id, method, path, summary }) => ({ id, method, path, summary }))
  out.list(
    { items, nextCursor: null },
    {
      OPERATION: id('id'),
      METHOD: 'method',
      PATH: 'path',
      DOES: 'summary',
    },
  )
}

function unknownOperation(id: string) {
  const near = nearest(
    id,
    CALLABLE.map((one) => one.id),
  )
  return usageError(
    `unknown operation ${id}`,
    near === undefined ? 'run perdure api to list the operations' : `Did you mean ${near}?`,
  )
}

type Fields = Readonly<Record<string, string>>

/** `params` are the path parameters in path order; `rest` goes into the query or the body. */
function splitParams(
  { id, path }: Operation,
  fields: Fields,
): { readonly params: readonly string[]; readonly rest: Fields } {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)
  const missing = names.filter((name) => !fields[name])
  if (missing.length > 0) throw usageError(`${id}: missing ${missing.join(', ')}`, `add -f ${missing[0]}=<value>`)
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !names.includes(name)))
  return { params: names.map((name) => fields[name] ?? ''), rest }
}

async function inputOf(
  { terminal }: Call,
  { id, body, query }: Operation,
  { rest, input }: { readonly rest: Fields; readonly input: string | undefined },
): Promise<readonly unknown[]> {
  if (body === undefined && query === undefined) {
    const surplus = Object.keys(rest)
    if (surplus.length === 0 && input === undefined) return []
    throw usageError(`${id} takes neither a body nor a query`, `remove ${surplus.join(', ') || '--input'}`)
  }
  if (query !== undefined) return [rest]
  const whole = await readInput(terminal, 'input', input)
  if (whole !== undefined && !isPlainObject(whole)) throw usageError('--input is not a JSON object', 'pass an object')
  return [{ ...whole, ...Object.fromEntries(Object.entries(rest).map(([name, text]) => [name, memberOf(text)])) }]
}

/** `5` becomes a number and `true` a boolean; text that is not valid JSON stays text. */
function memberOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

async function show({ out, terminal }: Call, answer: unknown): Promise<void> {
  if (answer instanceof Response) {
    const text = await answer.text()
    out.document({ contentType: answer.headers.get('content-type'), body: text }, () => text)
    return
  }
  const document = answer ?? {}
  if (out.isJson) out.document(document, () => '')
  else terminal.stdout.write(answer === undefined ? '' : `${JSON.stringify(document, undefined, 2)}\n`)
}
