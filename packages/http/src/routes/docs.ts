import { type JsonText, toJsonText } from '@perdure/ports'
import { type docsOperations, ERRORS, OPERATIONS } from '@perdure/protocol'
import { DOCS_PAGE_HEADERS, renderDocsPage } from '../docs-page/render-docs-page.ts'
import { buildAsyncApi } from '../documents/asyncapi.ts'
import { buildOpenApi } from '../documents/openapi.ts'
import type { Handlers } from '../handlers.ts'
import type { HttpAppDeps } from '../http-app-deps.ts'
import { textAnswer } from '../response/text-answer.ts'

/** `/openapi.json`, `/asyncapi.json` and `/docs`: built on first use, then cached. */
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
