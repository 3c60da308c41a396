import type { ListCall } from '@perdure/client'
import { OPERATIONS } from '@perdure/protocol'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import type { ArgumentSpec, Handler } from '../manifest/command-spec.ts'
import type { AnswerOf, AnswerRow, ItemOf, ListRow, OperationId } from '../manifest/operation-types.ts'
import { pairsText } from '../output/columns.ts'
import { type PageFlags, pageQuery, readPage } from './read-page.ts'

type Method = (...values: readonly unknown[]) => Promise<unknown>

/** The client method of an operation. The method name and the operation id derive from the same table row. */
export function methodOf(call: Call, id: string): Method {
  const [group = '', verb = ''] = id.split('.')
  const name = verb.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const groups = call.client() as unknown as Readonly<Record<string, Readonly<Record<string, Method>>>>
  const method = groups[group]?.[name]
  if (method === undefined) throw usageError(`${id} cannot be called`, 'run perdure api to list the operations')
  return method
}

interface Parameters {
  readonly arguments?: readonly ArgumentSpec[] | undefined
}

type Values = Readonly<Record<string, unknown>>

/** The first arguments are the parameters of the path. */
function parametersOf(id: OperationId, { arguments: specs = [] }: Parameters, values: Values): readonly unknown[] {
  const count = OPERATIONS.find((one) => one.id === id)?.path.match(/:\w+/g)?.length ?? 0
  return specs.slice(0, count).map(({ name }) => values[name])
}

type ListParts<Id extends OperationId> = { readonly [Part in 'columns' | 'input' | 'note']: ListRow<Id>[Part] }

export const listCommand =
  <Id extends OperationId>(id: Id, { columns, input, note }: ListParts<Id>, spec: Parameters): Handler =>
  async (call, values: Values & PageFlags) => {
    const query = { ...pageQuery(values), ...(await input?.(values as never, call)) }
    const listed = methodOf(call, id)(...parametersOf(id, spec, values), query) as ListCall<ItemOf<Id>>
    const page = await readPage(listed, values)
    const line = note?.(page.items, values as never, call)
    call.out.list(page, typeof columns === 'function' ? await columns() : columns)
    if (line !== undefined) call.out.note(line)
  }

type AnswerParts<Id extends OperationId> = { readonly [Part in 'input' | 'text' | 'note']: AnswerRow<Id>[Part] }

export const answerCommand =
  <Id extends OperationId>(id: Id, { input, text, note }: AnswerParts<Id>, spec: Parameters): Handler =>
  async (call, values: Values) => {
    const data = input === undefined ? [] : [await input(values as never, call)]
    const answer = (await methodOf(call, id)(...parametersOf(id, spec, values), ...data)) as AnswerOf<Id>
    if (note !== undefined && !call.out.isJson) call.out.note(note(answer, values as never))
    call.out.document(answer, (paint) =>
      text === undefined ? pairsText(Object.entries(Object(answer)), paint) : text(answer, values as never, paint),
    )
  }

export const deleteCommand =
  (id: OperationId, spec: Parameters): Handler =>
  async (call, values: Values) => {
    const parameters = parametersOf(id, spec, values)
    await methodOf(call, id)(...parameters)
    const deleted = parameters.at(-1)
    call.out.document({ id: deleted, deleted: true }, () => `deleted ${deleted}\n`)
  }
