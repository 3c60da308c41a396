import type { GenericSchema } from 'valibot'
import { documentationOf } from '../documented.ts'
import { PROTOCOLS } from '../protocols/index.ts'
import * as agents from './agents.ts'
import * as approvals from './approvals.ts'
import * as audit from './audit.ts'
import * as budgets from './budgets.ts'
import * as chats from './chats.ts'
import * as console from './console.ts'
import * as consolidator from './consolidator.ts'
import * as documents from './documents.ts'
import * as errorBody from './error-body.ts'
import * as eventEnvelope from './event-envelope.ts'
import * as files from './files.ts'
import * as health from './health.ts'
import * as hooks from './hooks.ts'
import * as keptCases from './kept-cases.ts'
import * as mcp from './mcp.ts'
import * as memory from './memory.ts'
import * as metadata from './metadata.ts'
import * as namedEvents from './named-events.ts'
import * as nodes from './nodes.ts'
import * as queuedMessages from './queued-messages.ts'
import * as replay from './replay.ts'
import * as runLogs from './run-logs.ts'
import * as runOutcome from './run-outcome.ts'
import * as runRequests from './run-requests.ts'
import * as runs from './runs.ts'
import * as secretsHealth from './secrets-health.ts'
import * as sessions from './sessions.ts'
import * as skills from './skills.ts'
import * as subjects from './subjects.ts'
import * as tokens from './tokens.ts'
import * as triggers from './triggers.ts'
import * as webhooks from './webhooks.ts'
import * as workflows from './workflows.ts'
import * as wsTicket from './ws-ticket.ts'

/** A schema that the documents list under a name. */
export interface NamedSchema {
  readonly schema: GenericSchema
  readonly description: string
  /** A value that the schema accepts. */
  readonly example: unknown
}

export type NamedSchemas = Readonly<Record<string, NamedSchema>>

const EXPORTS: Readonly<Record<string, unknown>> = {
  ...agents,
  ...approvals,
  ...audit,
  ...budgets,
  ...console,
  ...consolidator,
  ...documents,
  ...errorBody,
  ...eventEnvelope,
  ...files,
  ...health,
  ...mcp,
  ...memory,
  ...metadata,
  ...namedEvents,
  ...nodes,
  ...queuedMessages,
  ...replay,
  ...keptCases,
  ...runLogs,
  ...runOutcome,
  ...runRequests,
  ...runs,
  ...secretsHealth,
  ...sessions,
  ...chats,
  ...skills,
  ...subjects,
  ...tokens,
  ...triggers,
  ...hooks,
  ...webhooks,
  ...workflows,
  ...Object.assign({}, ...Object.values(PROTOCOLS).map(({ schemas }) => schemas)),
  ...wsTicket,
}

/** Names that differ from those of the exports. */
const NAMES: Readonly<Record<string, string>> = {
  ErrorBody: 'Error',
  ErrorName: 'ErrorCode',
  LogLevelName: 'LogLevel',
  Target: 'TriggerTarget',
  TokenEnvName: 'TokenEnv',
}

/** Every documented schema of this folder and of the protocols, by the name of its export. */
export const SCHEMAS: NamedSchemas = Object.fromEntries(
  Object.entries(EXPORTS).flatMap(([name, value]) => {
    const schema = value as GenericSchema
    const documentation = documentationOf(schema)
    return documentation === undefined ? [] : [[NAMES[name] ?? name, { schema, ...documentation }]]
  }),
)
