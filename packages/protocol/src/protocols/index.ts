import type { Operation } from '../operation.ts'
import { agUi } from './ag-ui/protocol.ts'
import { aiSdk } from './ai-sdk/protocol.ts'
import { mcp } from './mcp/protocol.ts'
import { openai } from './openai/protocol.ts'
import type { Protocol } from './protocol.ts'

/** The only list of protocols. A key is the name of the protocol in the configuration and in registrations. */
export const PROTOCOLS = { aiSdk, agUi, openai, mcp } as const

export type ProtocolName = keyof typeof PROTOCOLS

export const PROTOCOL_NAMES = Object.keys(PROTOCOLS) as readonly ProtocolName[]

/** An object with one member for each protocol. */
export const perProtocol = <Value>(memberOf: (name: ProtocolName) => Value) =>
  Object.fromEntries(PROTOCOL_NAMES.map((name) => [name, memberOf(name)])) as Readonly<Record<ProtocolName, Value>>

/** The operations of each protocol, by the group of their ids. */
export const PROTOCOL_TABLES = Object.fromEntries(
  Object.values<Protocol>(PROTOCOLS).map(({ group, operations }) => [group, operations]),
)

const NAMES = new Map(
  PROTOCOL_NAMES.flatMap((name) =>
    Object.values<Operation>(PROTOCOLS[name].operations).map(({ id }) => [id, name] as const),
  ),
)

/** The protocol that an operation speaks; `undefined` for the interface of the server itself. */
export const protocolOf = ({ id }: Operation): ProtocolName | undefined => NAMES.get(id)
