import { element } from './element.ts'
import { curlOf, type Filled, type Prepared, requestOf } from './request-of.ts'

/** What is shown of an answer at most, in characters. */
const MAX_SHOWN = 200_000

/** Sends what a form holds and shows the answer as it arrives. Never throws: what fails is shown, too. */
export async function send({ signal, ...filled }: Filled & { readonly signal: AbortSignal }, place: HTMLElement) {
  place.replaceChildren()
  try {
    const prepared = requestOf(filled, new URL('.', location.href).href.replace(/\/$/, ''))
    const token = document.querySelector<HTMLInputElement>('#token')?.value.trim() ?? ''
    place.append(element('pre', { tabindex: '0' }, curlOf(prepared, token !== '')))
    await exchange({ ...prepared, token, signal }, place)
  } catch (error) {
    place.append(element('p', { role: 'alert' }, signal.aborted ? 'Stopped.' : String(error)))
  }
}

/** The token goes along as a header; cookies never do. */
async function exchange(
  { url, method, headers, body, token, signal }: Prepared & { readonly token: string; readonly signal: AbortSignal },
  place: HTMLElement,
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
  place.append(
    element('p', { class: response.ok ? 'ok' : 'refused' }, `${response.status} after ${took} ms`),
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
      shown.append('\n… cut here')
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
