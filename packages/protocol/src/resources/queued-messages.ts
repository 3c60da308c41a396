import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { RUN_ID } from './example-ids.ts'
import { ShownMetadata } from './metadata.ts'

export const QueuedMessage = documented(
  v.object({
    runId: member(v.string(), 'Id of the run that the message has started; it has not begun to work.'),
    agentId: member(v.string(), 'Id of the agent that will answer.'),
    content: member(v.unknown(), 'Content of the message: the input of its run.'),
    onBusy: member(
      v.picklist(['queue', 'steer', 'interrupt']),
      'What the message does to the run ahead: it waits for its end, steers it, or interrupts it.',
    ),
    metadata: member(ShownMetadata, 'Metadata of the start request; an empty object when it had none.'),
    createdAt: member(Timestamp, 'When the message was accepted.'),
  }),
  'A message that waits while its agent is busy.',
  {
    ...{ runId: RUN_ID, agentId: 'support', content: { text: 'And by when?' }, onBusy: 'queue', metadata: {} },
    createdAt: '2026-03-02T09:15:00.000Z',
  },
)

const ReceiptState = v.picklist(['queued', 'delivered', 'withdrawn', 'not-delivered'])
/** The state of a message, as its sender sees it. */
export type ReceiptState = v.InferOutput<typeof ReceiptState>

export const Receipt = documented(
  v.object({
    runId: member(v.string(), 'Id of the run that the message has started.'),
    state: member(
      ReceiptState,
      '`queued` while it waits, `delivered` once a run works with it, `withdrawn` if it was taken back before, `not-delivered` if its run ended before.',
    ),
    deliveredTo: member(
      v.optional(v.string()),
      'Id of the run that works with the message: its own run, or the one that has taken it. Present only when `state` is `delivered`.',
    ),
    reason: member(
      v.optional(v.string()),
      'Why the message was not delivered. Present only when `state` is `not-delivered`.',
    ),
  }),
  'The state of a message, as its sender sees it.',
  { runId: RUN_ID, state: 'delivered', deliveredTo: RUN_ID },
)
