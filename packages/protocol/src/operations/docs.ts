import type { OperationTable } from '../operation.ts'
import { AsyncApiDocument, OpenApiDocument } from '../resources/documents.ts'

/** Mounted when `docs.enabled` is true. */
export const docsOperations = {
  getOpenApi: {
    id: 'docs.openapi',
    method: 'GET',
    path: '/openapi.json',
    scope: null,
    showsMore: true,
    idempotent: false,
    responses: {
      200: {
        schema: OpenApiDocument,
        description:
          'The OpenAPI 3.1 document. With a token, it includes the schemas of the agents and workflows that the token may read.',
      },
    },
    errors: [],
    summary: 'Read the OpenAPI document.',
  },
  getAsyncApi: {
    id: 'docs.asyncapi',
    method: 'GET',
    path: '/asyncapi.json',
    scope: null,
    idempotent: false,
    responses: { 200: { schema: AsyncApiDocument, description: 'The AsyncAPI 3.0 document.' } },
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
        description: 'A self-contained HTML page that documents every operation and can call it.',
      },
    },
    errors: [],
    summary: 'Read the reference in a browser.',
  },
} as const satisfies OperationTable
