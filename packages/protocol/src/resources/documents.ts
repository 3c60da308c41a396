import * as v from 'valibot'

/** The members that a reader of the document checks first. */
export const OpenApiDocument = v.looseObject({ openapi: v.string() })
export const AsyncApiDocument = v.looseObject({ asyncapi: v.string() })
