import {
  CLOSE_CODES,
  ErrorFrame,
  EventFrame,
  REPLAY_GAP,
  ReplayGap,
  RPC_CODES,
  RPC_METHODS,
  type RpcMethodSpec,
  SUBPROTOCOL,
  TICKET_PREFIX,
} from '@perdure/protocol'
import { code, page, table } from '../markdown.ts'
import { schemaMembers } from '../schema-members.ts'

export const realtimePage = (): string =>
  page(
    'Real time',
    'Events over a WebSocket, opened with `GET /ws`: methods, pushed frames and codes. ' +
      `The subprotocol is ${code(SUBPROTOCOL)}; a browser also offers ${code(`${TICKET_PREFIX}<value>`)}. ` +
      'See [Events](events.md) for subjects and event types.',
    '## Methods',
    'The client sends JSON-RPC 2.0 requests; batches are not supported.',
    table(['Method', 'Parameters', 'Result', 'Meaning'], Object.entries<RpcMethodSpec>(RPC_METHODS).map(toMethodRow)),
    '## Pushed frames',
    table(
      ['Kind', 'Members'],
      [
        ['event', code(schemaMembers(EventFrame))],
        ['error', code(schemaMembers(ErrorFrame))],
      ],
    ),
    `When events are no longer available, an error frame with the code ${code(REPLAY_GAP)} (over Server-Sent Events, an ` +
      `event of that type) and the data ${code(schemaMembers(ReplayGap))} precedes the events that are still available.`,
    '## Error codes',
    table(['Code', 'Name', 'Meaning'], toRows(RPC_CODES)),
    '## Close codes',
    table(['Code', 'Name', 'Meaning'], toRows(CLOSE_CODES)),
  )

const toMethodRow = ([method, { params, result, summary }]: [string, RpcMethodSpec]) => [
  code(method),
  code(schemaMembers(params)),
  code(schemaMembers(result)),
  summary,
]

const toRows = (specs: Readonly<Record<string, { readonly code: number; readonly summary: string }>>) =>
  Object.entries(specs).map(([name, spec]) => [String(spec.code), code(name), spec.summary])
