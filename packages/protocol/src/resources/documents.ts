import * as v from 'valibot'
import { documented, member } from '../documented.ts'

/** The members that a reader of the document checks first. */
export const OpenApiDocument = documented(
  v.looseObject({ openapi: member(v.string(), 'Version of the OpenAPI specification.') }),
  'An OpenAPI document.',
  { openapi: '3.1.1' },
)
export const AsyncApiDocument = documented(
  v.looseObject({ asyncapi: member(v.string(), 'Version of the AsyncAPI specification.') }),
  'An AsyncAPI document.',
  { asyncapi: '3.0.0' },
)
