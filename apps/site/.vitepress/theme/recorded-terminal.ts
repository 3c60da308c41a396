import { computed, defineComponent, h, onBeforeUnmount, ref } from 'vue'
import recording from '../../recordings/crash.json' with { type: 'json' }

const TICK_MS = 50
const duration = recording.lines.at(-1)?.at ?? 0

/** A recorded terminal session: shows its end, and plays it when the reader asks for it. */
export const RecordedTerminal = defineComponent({
  name: 'RecordedTerminal',
  setup() {
    const time = ref(duration)
    const timer = ref<ReturnType<typeof setInterval>>()
    const isPlaying = computed(() => timer.value !== undefined)

    const pause = (): void => {
      clearInterval(timer.value)
      timer.value = undefined
    }
    const play = (): void => {
      if (time.value >= duration) time.value = 0
      timer.value = setInterval(() => {
        time.value += TICK_MS
        if (time.value >= duration) pause()
      }, TICK_MS)
    }
    onBeforeUnmount(pause)

    // Lines that are still to come keep their space, so that the page does not move.
    const lineOf = ({ at, kind, text }: (typeof recording.lines)[number]) =>
      h('span', { class: ['recorded-line', kind], style: { visibility: at <= time.value ? 'visible' : 'hidden' } }, [
        ...(kind === 'typed' ? [h('span', { class: 'prompt' }, '$ ')] : []),
        `${text}\n`,
      ])
    const pane = (name: string) =>
      h('section', { class: 'recorded-pane', 'aria-label': name }, [
        h('p', { class: 'recorded-name' }, name),
        h('pre', recording.lines.filter((line) => line.pane === name).map(lineOf)),
      ])

    return () =>
      h('figure', { class: 'recorded' }, [
        h('figcaption', { class: 'recorded-caption' }, [
          h('button', { type: 'button', onClick: () => (isPlaying.value ? pause() : play()) }, [
            isPlaying.value ? 'Pause' : 'Play the recording',
          ]),
          h('span', recording.caption),
        ]),
        h('div', { class: 'recorded-panes' }, recording.panes.map(pane)),
      ])
  },
})
