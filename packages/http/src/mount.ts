import { perdureError } from '@perdure/ports'
import {
  OPERATION_TABLES,
  type Operation,
  type OperationGroup,
  type OperationTable,
  PROTOCOL_NAMES,
  PROTOCOLS,
} from '@perdure/protocol'
import type { Answer, Call, Handlers } from './handlers.ts'
import type { HttpConfig } from './http-app-deps.ts'

/** An operation with its handler. */
export interface Mounted {
  readonly operation: Operation
  /** The path of the operation with the prefix under which it is mounted. */
  readonly pattern: string
  readonly handle: (call: Call<Operation>) => Answer | Promise<Answer>
}

type Tables = typeof OPERATION_TABLES

/** The handlers of every resource group. */
export type AllHandlers = { readonly [Group in OperationGroup]: Handlers<Tables[Group]> }

type ByName = Readonly<Record<string, Mounted['handle'] | undefined>>

/** Pairs every operation with its handler. An unimplemented operation passes all stages, then answers 501. */
export function mountAll(handlers: AllHandlers, config: HttpConfig): readonly Mounted[] {
  const byGroup = handlers as Readonly<Record<string, unknown>> as Readonly<Record<string, ByName>>
  return servedTables(config).flatMap(([group, operations]) =>
    Object.entries(operations).map(([name, operation]) => ({
      operation,
      pattern: config.basePath + operation.path,
      handle: byGroup[group]?.[name] ?? refuse,
    })),
  )
}

/** The operations of the groups that the server serves. */
export const servedOperations = (config: HttpConfig): readonly Operation[] =>
  servedTables(config).flatMap(([, operations]) => Object.values(operations))

/** The groups of operations that the configuration does not turn off. */
function servedTables(config: HttpConfig): readonly [group: string, operations: OperationTable][] {
  const switches: Readonly<Record<string, boolean>> = {
    docs: config.docsEnabled,
    metrics: config.metricsEnabled,
    console: config.consoleEnabled,
    ...Object.fromEntries(PROTOCOL_NAMES.map((name) => [PROTOCOLS[name].group, config.protocols[name]])),
  }
  return Object.entries<OperationTable>(OPERATION_TABLES).filter(([group]) => switches[group] ?? true)
}

function refuse(): never {
  throw perdureError('not-implemented', {
    hint: 'this operation always answers 501; to repeat a run, use POST /runs/:runId/fork, /retry or /rerun',
  })
}
