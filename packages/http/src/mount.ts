import { perdureError } from '@perdure/ports'
import {
  ALL_TABLES,
  type OPERATION_TABLES,
  type Operation,
  type OperationGroup,
  type OperationTable,
  PROTOCOL_NAMES,
  PROTOCOLS,
  type ProtocolName,
  protocolOf,
} from '@perdure/protocol'
import type { Answer, Call, Handlers } from './handlers.ts'
import type { HttpAppDeps, HttpConfig } from './http-app-deps.ts'

/** An operation with its handler. */
export interface Mounted {
  readonly operation: Operation
  /** The path of the operation with the prefix under which it is mounted. */
  readonly pattern: string
  /** The protocol of other software that the operation speaks, in which errors are shown. */
  readonly protocol?: ProtocolName | undefined
  readonly handle: (call: Call<Operation>) => Answer | Promise<Answer>
  /** Whether a person opens the address in a browser, and so reads errors. */
  readonly showsErrorPages?: boolean
}

type Tables = typeof OPERATION_TABLES

/** The handlers of every group of the server's own interface. */
export type AllHandlers = { readonly [Group in OperationGroup]: Handlers<Tables[Group]> }

type ByName = Readonly<Record<string, Mounted['handle'] | undefined>>

/** Pairs every operation with its handler. An unimplemented operation passes all stages, then answers 501. */
export function mountAll(
  handlers: AllHandlers,
  { config, callProtocol }: Pick<HttpAppDeps, 'config' | 'callProtocol'>,
): readonly Mounted[] {
  const byGroup = handlers as Readonly<Record<string, unknown>> as Readonly<Record<string, ByName>>
  return servedTables(config).flatMap(([group, operations]) =>
    Object.entries(operations).map(([name, operation]) => {
      const protocol = protocolOf(operation)
      return {
        ...{ operation, protocol, pattern: config.basePath + operation.path },
        handle:
          protocol === undefined
            ? (byGroup[group]?.[name] ?? refuse)
            : (call: Call<Operation>) => callProtocol(protocol, name, call),
      }
    }),
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
  return Object.entries(ALL_TABLES).filter(([group]) => switches[group] ?? true)
}

function refuse(): never {
  throw perdureError('not-implemented', {
    hint: 'this operation always answers 501; to repeat a run, use POST /runs/:runId/fork, /retry or /rerun',
  })
}
