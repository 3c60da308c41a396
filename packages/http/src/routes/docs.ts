import { type JsonText, toJsonText } from '@berth/ports'
import { type docsOperations, OPERATIONS } from '@berth/protocol'
import { buildAsyncApi } from '../asyncapi.ts'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { buildOpenApi } from '../openapi.ts'

/** `/openapi.json` and `/asyncapi.json`: built on first use, then served as they are. */
export function docsRoutes({
  config,
  version,
}: Pick<HttpAppDeps, 'config' | 'version'>): Handlers<typeof docsOperations> {
  let openApi: JsonText | undefined
  let asyncApi: JsonText | undefined
  return {
    getOpenApi() {
      openApi ??= toJsonText(buildOpenApi(OPERATIONS, { basePath: config.basePath, version }))
      return { status: 200, json: openApi }
    },
    getAsyncApi() {
      asyncApi ??= toJsonText(buildAsyncApi({ basePath: config.basePath, version }))
      return { status: 200, json: asyncApi }
    },
  }
}
