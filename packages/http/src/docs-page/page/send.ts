import { element } from './element.ts'
import { curlOf, type FormValues, type PreparedRequest, requestOf } from './request-of.ts'

/** Maximum characters of a response to show. */
const MAX_SHOWN = 200_000

/** Sends the form and shows the response as it arrives. Never throws: errors are shown too. */
export async function send({ signal, ...filled }: FormValues & { readonly signal: AbortSignal }, output: HTMLElement) {
  output.replaceChildren()
  try {
    const prepared = requestOf(filled, new URL('.', location.href).href.replace(/\/$/, ''))
    const token = document.querySelector<HTMLInputElement>('#token')?.value.trim() ?? ''
    output.append(element('pre', { tabindex: '0' }, curlOf(prepared, token !== '')))
    await exchange({ ...prepared, token, signal }, output)
  } catch (error) {
    output.append(element('p', { role: 'alert' }, signal.aborted ? 'Stopped.' : String(error)))
  }
}

/** Sends the token as a header, and never cookies. */
async function exchange(
  {
    url,
    method,
    headers,
    body,
    token,
    signal,
  }: PreparedRequest & { readonly token: string; readonly signal: AbortSignal },
  output: HTMLElement,
): Promise<void> {
  const startedAt = performance.now()
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(token === '' ? {} : { Authorization: `Bearer ${token}` }) },
    signal,
    credentials: 'omit',
    cache: 'no-store',
    redirect: 'error',
    ...(body === undefined ? {} : { body }),
  })
  const took = Math.round(performance.now() - startedAt)
  const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`)
  const shown = element('pre', { tabindex: '0', class: 'received' })
  output.append(
    element('p', { class: response.ok ? 'ok' : 'refused' }, `${response.status} in ${took} ms`),
    element('details', {}, element('summary', {}, 'Headers'), element('pre', {}, lines.join('\n'))),
    shown,
  )
  await showText(response, shown)
}

async function showText(response: Response, shown: HTMLElement): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value
    shown.textContent = text.slice(0, MAX_SHOWN)
    if (text.length > MAX_SHOWN) {
      shown.append('\n… truncated')
      return reader?.cancel()
    }
  }
  shown.textContent = isJson(response) ? indented(text) : text
}

const isJson = ({ headers }: Response): boolean => headers.get('content-type')?.includes('application/json') === true

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2)
  } catch {
    return text
  }
}
