import { ERRORS, type ErrorCode, errorsOf, type Operation, type ResponseSpec } from '@perdure/protocol'
import { componentRef, isEmpty, type Json, pascalCase } from './openapi-json.ts'
import { contentOf, type SchemaComponents } from './openapi-schemas.ts'

export const HEADER_COMPONENTS: Json = {
  Location: { description: 'Path of the created resource or started run.', schema: { type: 'string' } },
  RetryAfter: { description: 'Seconds to wait before retrying the request.', schema: { type: 'integer' } },
  RequestId: { description: 'Id of the request in the server log.', schema: { type: 'string' } },
}

const REQUEST_ID = { 'X-Request-Id': componentRef('headers', 'RequestId') }

/** Each body that is not one JSON document. The schema of an event stream describes the data of each of its events. */
const STREAMS: Readonly<Record<NonNullable<ResponseSpec['stream']>, Json>> = {
  'event-stream': { 'text/event-stream': contentOf('EventEnvelope') },
  ndjson: textContent('application/x-ndjson', '{"seq":41}\n{"seq":42}\n'),
  csv: textContent('text/csv', 'seq,at\n42,2026-03-02T09:15:00.000Z\n'),
  text: textContent('text/plain', 'svc_runs_active 2\n'),
  html: textContent('text/html', '<!doctype html>'),
  bytes: { '*/*': { schema: {}, example: 'hello' } },
  websocket: {},
}

function textContent(mediaType: string, example: string): Json {
  return { [mediaType]: { schema: { type: 'string' }, example } }
}

export interface Responses {
  readonly components: Json
  readonly examples: Json
  of(operation: Operation): Json
}

/** The responses of all operations. Error responses are components, because operations share them. */
export function responsesOf(operations: readonly Operation[], schemas: SchemaComponents): Responses {
  const failures = failuresOf(operations)
  return {
    components: Object.fromEntries([...failures.components, ['Error', failure(ANY_ERROR, [])]]),
    examples: Object.fromEntries([...failures.codes].map((code) => [code, errorExample(code)])),
    of: (operation) => {
      const successes = Object.entries<ResponseSpec>(operation.responses).map(
        ([status, spec]) => [status, success(spec, schemas)] as const,
      )
      const taken = new Set(successes.map(([status]) => status))
      const refusals = failures.of(operation).filter(([status]) => !taken.has(status))
      const hasSuccess = successes.some(([status]) => status.startsWith('2'))
      return {
        ...Object.fromEntries([...successes, ...refusals]),
        ...(hasSuccess ? {} : { default: componentRef('responses', 'Error') }),
      }
    },
  }
}

function success({ description, schema, stream, location }: ResponseSpec, { nameOf }: SchemaComponents): Json {
  const content = {
    ...(schema === undefined ? {} : { 'application/json': contentOf(nameOf(schema)) }),
    ...(stream === undefined ? {} : STREAMS[stream]),
  }
  const headers = { ...REQUEST_ID, ...(location === true ? { Location: componentRef('headers', 'Location') } : {}) }
  return { description, headers, ...(isEmpty(content) ? {} : { content }) }
}

type Status = string

/** Errors with the same status share a response. Its name consists of the status and of the codes that not all operations share. */
function failuresOf(operations: readonly Operation[]) {
  const byOperation = new Map(operations.map((operation) => [operation.id, byStatus(errorsOf(operation))]))
  const common = new Map<Status, readonly ErrorCode[]>()
  for (const [status, codes] of [...byOperation.values()].flat()) {
    common.set(status, common.get(status)?.filter((code) => codes.includes(code)) ?? codes)
  }
  const nameOf = (status: Status, codes: readonly ErrorCode[]) =>
    `Error${status}${codes
      .filter((code) => !common.get(status)?.includes(code))
      .map(pascalCase)
      .join('')}`
  const all = [...byOperation.values()].flat()
  const codesByName = new Map(all.map(([status, codes]) => [nameOf(status, codes), codes]))
  return {
    components: [...codesByName].map(([name, codes]) => [name, failure(describe(codes), codes)] as const),
    codes: new Set(all.flatMap(([, codes]) => codes)),
    of: ({ id }: Operation) =>
      (byOperation.get(id) ?? []).map(
        ([status, codes]) => [status, componentRef('responses', nameOf(status, codes))] as const,
      ),
  }
}

const byStatus = (codes: readonly ErrorCode[]): ReadonlyArray<readonly [Status, readonly ErrorCode[]]> =>
  Object.entries(Object.groupBy(codes, (code) => ERRORS[code].status)) as unknown as ReadonlyArray<
    readonly [Status, readonly ErrorCode[]]
  >

const ANY_ERROR = 'Any other answer is an error.'

const describe = (codes: readonly ErrorCode[]): string =>
  codes.map((code) => `\`${code}\`: ${ERRORS[code].summary}`).join('\n\n')

/** `x-perdure-errors` lists the codes of the response, for readers that need them without the prose. */
function failure(description: string, codes: readonly ErrorCode[]): Json {
  const isRetryable = codes.some((code) => ERRORS[code].retryable)
  const examples = codes.length === 0 ? ['agent-not-found' as const] : codes
  return {
    description,
    headers: { ...REQUEST_ID, ...(isRetryable ? { 'Retry-After': componentRef('headers', 'RetryAfter') } : {}) },
    content: {
      'application/json': {
        schema: componentRef('schemas', 'Error'),
        examples: Object.fromEntries(examples.map((code) => [code, componentRef('examples', code)])),
      },
    },
    'x-perdure-errors': codes,
  }
}

const errorExample = (code: ErrorCode): Json => ({
  value: { error: code, message: ERRORS[code].summary, requestId: 'req_01k5x3v8qk7m2n9b4c6d8f0g1h' },
})
