import * as v from 'valibot'
import { documented, member } from '../documented.ts'
import { ERRORS, type ErrorCode } from '../errors.ts'

export const ErrorName = documented(
  v.picklist(Object.keys(ERRORS) as ErrorCode[]),
  'Permanent identifier of an error. A later version of the server can add identifiers.',
  'agent-not-found',
)

export const ErrorBody = documented(
  v.object({
    error: member(ErrorName, 'Identifier of the error, to branch on.'),
    message: member(v.string(), 'Explanation for people. The wording may change.'),
    hint: member(
      v.optional(v.string()),
      'What the caller can do. Absent when there is no advice. The wording may change.',
    ),
    requestId: member(v.string(), 'Id of the request in the server log.'),
  }),
  'The body of every error response.',
  {
    error: 'agent-not-found',
    message: 'no agent is registered as suport',
    hint: 'registered agents: support',
    requestId: 'req_01k5x3v8qk7m2n9b4c6d8f0g1h',
  },
)
