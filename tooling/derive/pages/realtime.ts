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
    'How to follow events over a WebSocket, opened with `GET /ws`: methods, pushed frames and codes. ' +
      `The subprotocol is ${code(SUBPROTOCOL)}; a browser offers ${code(`${TICKET_PREFIX}<value>`)} beside it. ` +
      'Subjects and event types are on the page [events](events.md).',
    '## Methods',
    'JSON-RPC 2.0 from client to server, never a batch.',
    table(['Method', 'Parameters', 'Result', 'Meaning'], Object.entries<RpcMethodSpec>(RPC_METHODS).map(toMethodRow)),
    '## Pushed frames',
    table(
      ['Kind', 'Members'],
      [
        ['event', code(schemaMembers(EventFrame))],
        ['error', code(schemaMembers(ErrorFrame))],
      ],
    ),
    `Where events are no longer available, an error frame of the code ${code(REPLAY_GAP)} (over server-sent events an ` +
      `event of that type) with the data ${code(schemaMembers(ReplayGap))} comes before those that are.`,
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
