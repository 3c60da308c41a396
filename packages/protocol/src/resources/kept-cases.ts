import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { strictObject } from '../plain-object.ts'
import { RUN_ID } from './example-ids.ts'

export const CaseRequest = documented(
  strictObject({
    raw: member(
      v.optional(v.boolean()),
      'Whether to keep credentials and e-mail addresses. Needs `traces:read:raw`. Default: false.',
    ),
  }),
  'How to make the case. A run of another owner needs `traces:read:sanitized`.',
  { raw: false },
)

export const KeptCase = documented(
  v.object({
    id: member(v.string(), 'Id of the run.'),
    input: member(v.optional(v.unknown()), 'Input of the run. Absent if the case has `turns`.'),
    turns: member(
      v.optional(v.array(v.string())),
      'What the user said in the session, up to the run: at most 50 turns, the oldest first. Absent if the case has `input`.',
    ),
    decisions: member(
      v.optional(v.record(v.string(), v.union([v.boolean(), v.array(v.boolean())]))),
      'Decisions by the name of the approval or tool: one for all its approvals, or a list in their order if they differ. Absent without decisions.',
    ),
    expected: member(v.optional(v.string()), 'Text of the result. Absent if the result has none.'),
  }),
  'A case of `perdure eval`, as `casesFromFiles` reads it.',
  { id: RUN_ID, turns: ['My order A-17 is late.'], decisions: { refund: true }, expected: 'You get your money back.' },
)

export const KeptRun = documented(
  v.object({
    case: member(KeptCase, 'What `casesFromFiles` reads.'),
    notes: member(v.array(v.string()), 'How the case differs from the run, in full sentences.'),
  }),
  'A case of `perdure eval`, and its differences from the run.',
  {
    case: { id: RUN_ID, turns: ['My address is [redacted:email].'], expected: 'Thank you.' },
    notes: ['Credentials and e-mail addresses are redacted.'],
  },
)
