import { changesState, OPERATIONS } from '@perdure/protocol'
import * as v from 'valibot'
import type { CommandSpec } from './command-spec.ts'
import type { AnswerRow, ListRow, OperationId, OperationRow } from './operation-types.ts'
import { CHANGES, PAGE_FLAGS, READS } from './server-rows.ts'

/** A command that prints a page of a list. */
export function lists<Id extends OperationId>(id: Id, row: ListRow<Id>): CommandSpec {
  const { columns, input, note, isShort, flags = [], ...spec } = row
  return {
    ...READS,
    ...spec,
    flags: isShort ? flags : [...flags, ...PAGE_FLAGS],
    schema: schemaOf(id),
    load: async () =>
      (await import('../commands/operation-command.ts')).listCommand(id, { columns, input, note }, spec),
  }
}

/** A command that prints the answer of an operation. */
export function answers<Id extends OperationId>(id: Id, row: AnswerRow<Id>): CommandSpec {
  const { input, text, note, ...spec } = row
  return {
    ...(changesState(operationOf(id)) ? CHANGES : READS),
    ...spec,
    schema: schemaOf(id),
    load: async () => (await import('../commands/operation-command.ts')).answerCommand(id, { input, text, note }, spec),
  }
}

/** A command that deletes what the last parameter of the path names. */
export const deletes = (id: OperationId, row: OperationRow<OperationId>): CommandSpec => ({
  ...CHANGES,
  ...row,
  schema: v.object({ id: v.string(), deleted: v.literal(true) }),
  load: async () => (await import('../commands/operation-command.ts')).deleteCommand(id, row),
})

function operationOf(id: OperationId) {
  const found = OPERATIONS.find((one) => one.id === id)
  if (found === undefined) throw new Error(`no operation has the id ${id}`)
  return found
}

/** The schema of the successful answer. */
function schemaOf(id: OperationId): v.GenericSchema {
  const responses = Object.values(operationOf(id).responses)
  for (const response of responses) if ('schema' in response && response.schema !== undefined) return response.schema
  throw new Error(`${id} answers no JSON`)
}
