import type { OperationTable } from '../operation.ts'
import { SubjectUsage } from '../resources/subjects.ts'
import { RevokedSubject, RevokeSubjectRequest } from '../resources/tokens.ts'

export const subjectOperations = {
  getSubjectUsage: {
    id: 'subjects.usage',
    method: 'GET',
    path: '/subjects/:subject/usage',
    scope: 'principal',
    mayNeed: ['subjects:read'],
    idempotent: false,
    responses: { 200: { schema: SubjectUsage, description: 'What the subject uses, and its limits.' } },
    errors: ['scope-denied'],
    summary: 'See what a subject uses now and today: the caller, or with the scope `subjects:read` any other.',
  },
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
