import type { OperationTable } from '../operation.ts'
import { ConsoleCode, ConsoleSession, SignInRequest } from '../resources/console.ts'

/** Mounted when `console.enabled` is true. */
export const consoleOperations = {
  createConsoleCode: {
    id: 'console.create-code',
    method: 'POST',
    path: '/console/codes',
    scope: 'principal',
    idempotent: true,
    changesNothing: true,
    sealed: true,
    responses: { 201: { schema: ConsoleCode, description: 'The code, shown once.' } },
    errors: ['ticket-limit-exceeded'],
    summary: 'Issue a single-use code that signs a browser in to the console with the scopes of the caller.',
  },
  signIn: {
    id: 'console.sign-in',
    method: 'POST',
    path: '/console/session',
    scope: null,
    idempotent: false,
    privileged: true,
    body: SignInRequest,
    responses: {
      201: { schema: ConsoleSession, description: 'The session, whose cookie is in the header Set-Cookie.' },
    },
    errors: [
      'auth-invalid',
      'auth-revoked',
      'auth-expired',
      'auth-locked-out',
      'SQLITE_BUSY',
      'storage-unavailable',
      'storage-failed',
      'audit-unavailable',
    ],
    summary: 'Exchange a code or an access token for a session cookie of this browser.',
  },
  getConsoleSession: {
    id: 'console.session',
    method: 'GET',
    path: '/console/session',
    scope: 'principal',
    idempotent: false,
    responses: { 200: { schema: ConsoleSession, description: 'The session or token of this request.' } },
    errors: [],
    summary: 'Read the session of the caller, its scopes, and the agents and workflows that it may read.',
  },
  signOut: {
    id: 'console.sign-out',
    method: 'DELETE',
    path: '/console/session',
    scope: 'principal',
    idempotent: false,
    changesNothing: true,
    privileged: true,
    responses: { 204: { description: 'The session has ended, and its cookie is deleted.' } },
    errors: [],
    summary: 'End the session of this browser.',
  },
} as const satisfies OperationTable
