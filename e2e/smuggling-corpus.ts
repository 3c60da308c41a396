/** Marks the answer to a request that only a misread message boundary would create. */
export const SMUGGLED = 'smuggled-request'

/** Bytes that are a separate request only to a server that misreads the message boundary. */
const INNER = `GET /v1/health/live HTTP/1.1\r\nHost: {host}\r\nX-Request-Id: ${SMUGGLED}\r\n\r\n`

const POST = ['POST /v1/agents/echo/run HTTP/1.1', 'Host: {host}', 'Content-Type: application/json']
const GET = ['GET /v1/agents HTTP/1.1', 'Host: {host}']
const LAST = 'GET /v1/health/live HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n'

const lines = (...all: readonly string[]) => `${all.join('\r\n')}\r\n\r\n`
const post = (fields: readonly string[], body: string) => lines(...POST, ...fields) + body
const chunked = (body: string) => post(['Transfer-Encoding: chunked'], body)
const size = (text: string) => text.replaceAll('{host}', '127.0.0.1:00000').length

type Case = readonly [name: string, text: string, expected: readonly number[]]

const REFUSED = [400]
/** Answered before the body is read; an error in the body then closes the connection. */
const EARLY = [401]

/** Requests whose end two parsers could see at different positions, with the answers allowed for each. */
export const SMUGGLING: readonly Case[] = [
  [
    'length, then chunks',
    post([`Content-Length: ${size(INNER) + 5}`, 'Transfer-Encoding: chunked'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  [
    'chunks, then length',
    post(['Transfer-Encoding: chunked', 'Content-Length: 4'], `5c\r\n${INNER}\r\n0\r\n\r\n`),
    REFUSED,
  ],
  [
    'chunks and a length of zero',
    post(['Transfer-Encoding: chunked', 'Content-Length: 0'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  ['chunked twice in a field', post(['Transfer-Encoding: chunked, chunked'], `0\r\n\r\n${INNER}`), REFUSED],
  [
    'chunked in two fields',
    post(['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  [
    'chunked and identity',
    post(['Transfer-Encoding: chunked', 'Transfer-Encoding: identity'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  ['identity', post(['Transfer-Encoding: identity', 'Content-Length: 5'], `0\r\n\r\n${INNER}`), REFUSED],
  ['an unknown coding', post(['Transfer-Encoding: xchunked'], `0\r\n\r\n${INNER}`), REFUSED],
  [
    'an unknown coding and a length',
    post(['Transfer-Encoding: cow', 'Content-Length: 5'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  [
    'chunked that is not the outermost coding',
    post(['Transfer-Encoding: chunked, gzip'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  ['a space before the colon of the coding', post(['Transfer-Encoding : chunked'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a vertical tab before the coding', post(['Transfer-Encoding: \x0bchunked'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a NUL after the coding', post(['Transfer-Encoding: chunked\x00'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a quoted coding', post(['Transfer-Encoding: "chunked"'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a folded coding', post(['Transfer-Encoding:', ' chunked'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a coding after a folded line', post(['X: y', ' Transfer-Encoding: chunked'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a coding after a bare line feed', post(['X: y\nTransfer-Encoding: chunked'], `0\r\n\r\n${INNER}`), REFUSED],
  ['a coding after a bare carriage return', post(['X: y\rTransfer-Encoding: chunked'], `0\r\n\r\n${INNER}`), REFUSED],
  [
    'chunks in HTTP/1.0',
    `${lines('POST /v1/agents/echo/run HTTP/1.0', 'Host: {host}', 'Transfer-Encoding: chunked')}0\r\n\r\n${INNER}`,
    REFUSED,
  ],
  ['two equal lengths', post(['Content-Length: 5', 'Content-Length: 5'], `hello${INNER}`), REFUSED],
  ['two different lengths', post(['Content-Length: 5', `Content-Length: ${size(INNER)}`], `hello${INNER}`), REFUSED],
  ['a list of lengths', post(['Content-Length: 5, 5'], `hello${INNER}`), REFUSED],
  ['a length with a sign', post(['Content-Length: +5'], `hello${INNER}`), REFUSED],
  ['a negative length', post(['Content-Length: -1'], INNER), REFUSED],
  ['a hexadecimal length', post(['Content-Length: 0x5'], `hello${INNER}`), REFUSED],
  ['a length in two words', post(['Content-Length: 5 5'], `hello${INNER}`), REFUSED],
  ['an empty length', post(['Content-Length:'], INNER), REFUSED],
  ['a length with an exponent', post(['Content-Length: 5e0'], `hello${INNER}`), REFUSED],
  ['a length beyond 64 bits', post(['Content-Length: 18446744073709551621'], `hello${INNER}`), REFUSED],
  ['a space before the colon of the length', post(['Content-Length : 5'], `hello${INNER}`), REFUSED],
  ['a folded length', post(['Content-Length:', ' 5'], `hello${INNER}`), REFUSED],
  ['a length after a bare carriage return', post(['X: y\rContent-Length: 5'], `hello${INNER}`), REFUSED],
  ['a hexadecimal prefix in a chunk size', chunked(`0x5\r\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['a negative chunk size', chunked(`-5\r\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['a chunk size beyond 64 bits', chunked(`10000000000000005\r\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['a space before a chunk size', chunked(` 5\r\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['an empty chunk size', chunked(`\r\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['a chunk size that ends in a line feed', chunked(`5\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['a chunk extension that ends in a line feed', chunked(`5;a\nhello\r\n0\r\n\r\n${INNER}`), REFUSED],
  ['a chunk longer than its size', chunked(`5\r\nhello!\r\n0\r\n\r\n${INNER}`), EARLY],
  ['a chunk that ends in a line feed', chunked(`5\r\nhello\n0\r\n\r\n${INNER}`), EARLY],
  ['chunks that end in line feeds', chunked(`5\r\nhello\r\n0\n\n${INNER}`), EARLY],
  ['a last chunk after a bare carriage return', chunked(`5\r\nhello\r\n0\r\r\n${INNER}`), EARLY],
  ['two hosts', lines(...GET, 'Host: evil.example') + LAST, [400, 200]],
  ['a host of two words', lines('GET /v1/agents HTTP/1.1', 'Host: {host} evil.example') + INNER, REFUSED],
  ['a space before the first field', lines('GET /v1/agents HTTP/1.1', ' Host: {host}') + INNER, REFUSED],
  ['a field name of two words', lines(...GET, 'X Y: z') + INNER, REFUSED],
  ['a NUL in a field name', lines(...GET, 'X\x00Y: z') + INNER, REFUSED],
  ['a field without a colon', lines(...GET, 'Content-Length') + INNER, REFUSED],
  ['a line feed after the request line', `GET /v1/agents HTTP/1.1\nHost: {host}\r\n\r\n${INNER}`, REFUSED],
  ['a request line of four words', lines('GET /v1/agents HTTP/1.1 x', 'Host: {host}') + INNER, REFUSED],
  ['HTTP/0.9', `GET /v1/agents\r\n${INNER}`, REFUSED],
  ['the preface of HTTP/2', `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${INNER}`, REFUSED],
  ['a CONNECT request', lines('CONNECT {host} HTTP/1.1', 'Host: {host}') + INNER, REFUSED],
  [
    'an Expect header with both framings',
    post(['Expect: 100-continue', 'Content-Length: 5', 'Transfer-Encoding: chunked'], `0\r\n\r\n${INNER}`),
    REFUSED,
  ],
  [
    'a refused WebSocket upgrade',
    lines('GET /v1/ws HTTP/1.1', 'Host: {host}', 'Connection: Upgrade', 'Upgrade: websocket') + INNER,
    REFUSED,
  ],
  [
    'a body whose request is answered before it is read',
    post([`Content-Length: ${size(INNER)}`], INNER) + LAST,
    [401, 200],
  ],
  [
    'a chunked body whose request is answered before it is read',
    chunked(`${size(INNER).toString(16)}\r\n${INNER}\r\n0\r\n\r\n`) + LAST,
    [401, 200],
  ],
  ['an unexpected body', lines(...GET, `Content-Length: ${size(INNER)}`) + INNER + LAST, [401, 200]],
  [
    'trailers that contain framing fields',
    chunked(`0\r\nContent-Length: ${size(INNER)}\r\nTransfer-Encoding: chunked\r\n\r\n${LAST}`),
    REFUSED,
  ],
  [
    'a chunk extension that contains a request',
    chunked(`5;x="${INNER.replaceAll('\r\n', ' ')}"\r\nhello\r\n0\r\n\r\n${LAST}`),
    [401, 200],
  ],
]
