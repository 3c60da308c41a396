import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { Timestamp } from '../ids.ts'
import { RUN_ID } from './example-ids.ts'

export const EventEnvelope = documented(
  v.object({
    eventId: member(v.string(), 'Id of the event: the cursor for resuming a stream after it.'),
    subject: member(v.string(), 'Subject that the event belongs to.'),
    type: member(v.string(), 'Type of the event, such as `run.completed`. Agents can emit types of their own.'),
    payload: member(v.unknown(), 'Data of the event. Its shape depends on `type`.'),
    at: member(Timestamp, 'When the event was recorded.'),
    runId: member(v.optional(v.string()), 'Id of the run. Absent when the event belongs to no run.'),
  }),
  'An event. The AsyncAPI document describes the payload of each type.',
  {
    eventId: '8c1f3a.117',
    subject: `agent:support/runs/${RUN_ID}/events`,
    type: 'run.started',
    payload: { runId: RUN_ID, status: 'running', attempt: 1 },
    at: '2026-03-02T09:15:00.004Z',
    runId: RUN_ID,
  },
)
