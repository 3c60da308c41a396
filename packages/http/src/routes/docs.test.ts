import { ERRORS, OPERATIONS, perProtocol } from '@perdure/protocol'
import { describe, expect, it } from 'vitest'
import { bodyOf, createTestApp, get, refusalOf } from '../app.fixture.ts'
import { TEST_DOCS_PAGE } from '../console/console-data.fixture.ts'

describe('/openapi.json', () => {
  it('serves the document of this server to a client without a token', async () => {
    const { app } = createTestApp({ config: { basePath: '/v1' } })

    const response = await app.fetch(get('/openapi.json'))

    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(await bodyOf(response)).toMatchObject({
      openapi: '3.1.1',
      servers: [{ url: '/v1' }],
      info: { version: '0.1.0' },
    })
  })

  it('lists exactly the operations that the server serves', async () => {
    const off = {
      metricsEnabled: false,
      consoleEnabled: false,
      protocols: perProtocol((name) => name === 'aiSdk' || name === 'mcp'),
    }
    const { app } = createTestApp({ config: off })

    const { paths } = (await bodyOf(await app.fetch(get('/openapi.json')))) as {
      paths: Record<string, Record<string, unknown>>
    }
    const listed = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const isOff = ({ id }: { id: string }) => /^(?:metrics|console|ag-ui|openai)\./.test(id)
    const served = OPERATIONS.filter((one) => !isOff(one))

    expect(served.length).toBeLessThan(OPERATIONS.length - 15)
    expect(listed.sort()).toEqual(
      served.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`).sort(),
    )
  })

  it('answers 404 when docs are disabled', async () => {
    const { app } = createTestApp({ config: { docsEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/openapi.json')))).toEqual({ status: 404, error: 'route-not-found' })
  })
})

describe('/asyncapi.json', () => {
  it('serves the document of this server to a client without a token', async () => {
    const { app } = createTestApp({ config: { basePath: '/v1' } })

    const response = await app.fetch(get('/asyncapi.json'))

    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toMatchObject({
      asyncapi: '3.0.0',
      info: { version: '0.1.0' },
      servers: { websocket: { pathname: '/v1', protocol: 'ws' } },
    })
  })

  it('answers 404 when docs are disabled', async () => {
    const { app } = createTestApp({ config: { docsEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/asyncapi.json')))).toEqual({ status: 404, error: 'route-not-found' })
  })
})

describe('/docs', () => {
  const read = async () => {
    const { app } = createTestApp({ config: { basePath: '/v1', consoleEnabled: false } })
    const response = await app.fetch(get('/docs'))
    return { response, text: await response.text() }
  }

  it('serves one HTML page with every operation and error to a client without a token or JavaScript', async () => {
    const { response, text } = await read()

    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    for (const { id, path } of OPERATIONS.filter(({ id }) => !id.startsWith('console.'))) {
      expect(text).toContain(`<details id="${id}">`)
      expect(text).toContain(`<code>${path.replace(/:(\w+)/g, '{$1}')}</code>`)
    }
    for (const error of Object.keys(ERRORS)) expect(text).toContain(`<tr id="error-${error}">`)
  })

  it('lists no operation that the server does not serve', async () => {
    expect((await read()).text).not.toContain('console.sign-in')
  })

  it('puts no text of a table into the page as markup', async () => {
    const { text } = await read()
    const [, list = ''] = /<noscript>(.*)<\/noscript>/s.exec(text) ?? []

    expect(
      list.replace(/<\/?(?:main|h1|h2|p|a|details|summary|code|table|tr|th|td)(?: (?:id|href|scope)="[\w.-]+")*>/g, ''),
    ).not.toMatch(/[<>]/)
  })

  it('allows only the style and the script inside the page, and requests to this server', async () => {
    const { response } = await read()

    expect(response.headers.get('content-security-policy')?.split('; ')).toEqual(
      expect.arrayContaining([
        "default-src 'none'",
        `script-src ${TEST_DOCS_PAGE.scriptSource}`,
        `style-src ${TEST_DOCS_PAGE.styleSource}`,
        "connect-src 'self'",
      ]),
    )
  })

  it('answers 404 when docs are disabled', async () => {
    const { app } = createTestApp({ config: { docsEnabled: false } })

    expect(await refusalOf(await app.fetch(get('/docs')))).toEqual({ status: 404, error: 'route-not-found' })
  })
})
