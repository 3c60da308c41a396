import type { OperationTable } from '../operation.ts'
import { RevokedSubject, RevokeSubjectRequest } from '../resources/tokens.ts'

export const subjectOperations = {
  revokeSubject: {
    id: 'subjects.revoke',
    method: 'POST',
    path: '/subjects/:subject/revoke',
    scope: 'tokens:revoke',
    idempotent: true,
    privileged: true,
    body: RevokeSubjectRequest,
    responses: { 200: { schema: RevokedSubject, description: 'The credentials are refused from now on.' } },
    errors: [],
    summary: 'Revoke the JWTs and tokens of a user that were issued until now.',
  },
} as const satisfies OperationTable
