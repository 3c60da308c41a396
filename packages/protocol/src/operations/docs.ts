import * as v from 'valibot'
import type { OperationTable } from '../operation.ts'

/** Mounted while `docs.enabled`. */
export const docsOperations = {
  getOpenApi: {
    id: 'docs.openapi',
    method: 'GET',
    path: '/openapi.json',
    scope: null,
    idempotent: false,
    responses: { 200: { schema: v.looseObject({ openapi: v.string() }), description: 'The OpenAPI 3.1 document.' } },
    errors: [],
    summary: 'Read the OpenAPI document.',
  },
  getAsyncApi: {
    id: 'docs.asyncapi',
    method: 'GET',
    path: '/asyncapi.json',
    scope: null,
    idempotent: false,
    responses: { 200: { schema: v.looseObject({ asyncapi: v.string() }), description: 'The AsyncAPI 3.0 document.' } },
    errors: [],
    summary: 'Read the AsyncAPI document.',
  },
  getDocs: {
    id: 'docs.page',
    method: 'GET',
    path: '/docs',
    scope: null,
    idempotent: false,
    responses: {
      200: {
        stream: 'html',
        description: 'One page of HTML that loads nothing else; reads and tries every operation.',
      },
    },
    errors: [],
    summary: 'Read the reference in a browser.',
  },
} as const satisfies OperationTable
