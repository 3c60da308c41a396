import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { strictObject } from '../plain-object.ts'
import { APPROVAL_ID } from './example-ids.ts'

export const ReplayRequest = documented(
  strictObject({
    raw: member(v.optional(v.boolean()), 'Whether to skip the sanitizer. Needs `traces:read:raw`. Default: false.'),
    limit: member(
      v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(200))),
      'Maximum number of events in a page, from 1 to 200. Default: 50.',
    ),
    cursor: member(v.optional(v.string()), '`nextCursor` of the previous page. Default: the first page.'),
    order: member(v.optional(v.picklist(['asc', 'desc'])), 'Sort order by time. Default: `asc`.'),
    speed: member(
      v.optional(v.pipe(v.number(), v.gtValue(0))),
      'Speed of a stream relative to the original run, more than 0. Default: as fast as possible.',
    ),
  }),
  'Options of a replay.',
  { limit: 100 },
)

export const Decision = documented(
  strictObject({
    id: member(v.optional(v.string()), 'Id of the approval. Needed without `toolCallId`.'),
    toolCallId: member(v.optional(v.string()), 'Id of the tool call that needs the approval. Needed without `id`.'),
    approved: member(v.boolean(), 'Whether to approve the request.'),
    reason: member(v.optional(v.string()), 'Reason for the decision.'),
    payload: member(v.optional(v.unknown()), 'Value to pass to the waiting code together with the decision.'),
    args: member(
      v.optional(v.unknown()),
      'Arguments to execute with in place of `args` of the approval; must match its `argsSchema`.',
    ),
  }),
  'A decision on one approval, identified by its id or by the tool call that requested it.',
  { id: APPROVAL_ID, approved: true },
)

export const ClientToolResult = documented(
  strictObject({
    toolCallId: member(v.string(), 'Id of the tool call.'),
    result: member(v.optional(v.unknown()), 'Result of the tool. Default: `null`.'),
    error: member(v.optional(v.string()), 'Why the tool failed. Without it, the tool has succeeded.'),
  }),
  'The result of a tool call that the client performs.',
  { toolCallId: 'call_1', result: { color: 'red' } },
)

export const ResumeRequest = documented(
  strictObject({
    payload: member(v.optional(v.unknown()), 'Value that the waiting code receives.'),
    approvals: member(v.optional(v.array(Decision)), 'Decisions on approvals of the run. Default: none.'),
    toolResults: member(
      v.optional(v.array(ClientToolResult)),
      'Results of tool calls that the client performs. Default: none.',
    ),
  }),
  'Resumes a suspended run.',
  { approvals: [{ id: APPROVAL_ID, approved: true }] },
)
