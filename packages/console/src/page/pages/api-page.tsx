import { API_URL } from '../api/connection.ts'
import { Card, Heading } from '../parts/basics.tsx'

/** Where the API is described. */
export function ApiPage() {
  return (
    <>
      <Heading title="API" />
      <Card title="Reference">
        <p>
          <a href={`${API_URL}/docs`}>Every operation</a>, with its schemas, errors and a form to call it. The calls of
          that page use this session or a token that you enter.
        </p>
        <p>
          <a href={`${API_URL}/openapi.json`}>openapi.json</a> describes the HTTP operations, also with the inputs of
          your agents; <a href={`${API_URL}/asyncapi.json`}>asyncapi.json</a> describes the events.
        </p>
      </Card>
      <Card title="From a terminal">
        <pre>{`curl ${API_URL}/runs?limit=5 -H "Authorization: Bearer $PERDURE_TOKEN"`}</pre>
        <p class="quiet">
          Create a token on the page Tokens. Every run has “Copy as curl”, and{' '}
          <code>perdure api &lt;operation&gt;</code> calls any operation.
        </p>
      </Card>
    </>
  )
}
