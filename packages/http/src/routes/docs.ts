import { type JsonText, toJsonText } from '@berth/ports'
import { type docsOperations, OPERATIONS } from '@berth/protocol'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { buildOpenApi } from '../openapi.ts'

/** `/openapi.json`: built on first use, then served as it is. */
export function docsRoutes({
  config,
  version,
}: Pick<HttpAppDeps, 'config' | 'version'>): Handlers<typeof docsOperations> {
  let openApi: JsonText | undefined
  return {
    getOpenApi() {
      openApi ??= toJsonText(buildOpenApi(OPERATIONS, { basePath: config.basePath, version }))
      return { status: 200, json: openApi }
    },
  }
}
