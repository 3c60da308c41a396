import { type JsonText, toJsonText } from '@perdure/ports'
import { type docsOperations, ERRORS, OPERATIONS } from '@perdure/protocol'
import { buildAsyncApi } from '../asyncapi.ts'
import { DOCS_PAGE_HEADERS, renderDocsPage } from '../docs-page/render-docs-page.ts'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { buildOpenApi } from '../openapi.ts'
import { textAnswer } from '../text-answer.ts'

/** `/openapi.json`, `/asyncapi.json` and `/docs`: built on first use, then served as they are. */
export function docsRoutes({
  config,
  version,
}: Pick<HttpAppDeps, 'config' | 'version'>): Handlers<typeof docsOperations> {
  const openApiObject = () => buildOpenApi(OPERATIONS, { basePath: config.basePath, version })
  let openApi: JsonText | undefined
  let asyncApi: JsonText | undefined
  let page: string | undefined
  return {
    getOpenApi() {
      openApi ??= toJsonText(openApiObject())
      return { status: 200, json: openApi }
    },
    getAsyncApi() {
      asyncApi ??= toJsonText(buildAsyncApi({ basePath: config.basePath, version }))
      return { status: 200, json: asyncApi }
    },
    getDocs() {
      page ??= renderDocsPage(openApiObject(), ERRORS)
      return textAnswer(page, 200, DOCS_PAGE_HEADERS)
    },
  }
}
