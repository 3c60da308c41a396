export { createHttpApp, type HttpApp } from './app.ts'
export type { AnswerNote, HttpAppDeps, HttpConfig, OpenRunStream, UseCases } from './http-app-deps.ts'
export type { HttpEnv } from './http-env.ts'
export { buildOpenApi, type OpenApiOptions } from './openapi.ts'
