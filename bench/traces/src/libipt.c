/* The packets of a trace by libipt's packet decoder. */
#include <intel-pt.h>
#include <string.h>

struct sums {
    uint64_t branches, targets, addresses, times, cycles;
};

/* Adds up the packets. Returns 0, or an error of libipt. */
int libipt_sums(uint8_t *begin, uint8_t *end, struct sums *sums) {
    struct pt_config config;
    struct pt_packet packet;
    memset(&config, 0, sizeof(config));
    config.size = sizeof(config);
    config.begin = begin;
    config.end = end;
    struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(&config);
    if (!decoder)
        return -1;
    int status = pt_pkt_sync_forward(decoder);
    while (status >= 0) {
        status = pt_pkt_next(decoder, &packet, sizeof(packet));
        if (status < 0)
            break;
        switch (packet.type) {
        case ppt_tnt_8:
        case ppt_tnt_64:
            sums->branches += packet.payload.tnt.bit_size;
            break;
        case ppt_tip:
            sums->targets++;
            if (packet.payload.ip.ipc != pt_ipc_suppressed)
                sums->addresses += packet.payload.ip.ip;
            break;
        case ppt_tsc:
            sums->times += packet.payload.tsc.tsc;
            break;
        case ppt_mtc:
            sums->times += packet.payload.mtc.ctc;
            break;
        case ppt_cyc:
            sums->cycles++;
            break;
        default:
            break;
        }
    }
    pt_pkt_free_decoder(decoder);
    return status == -pte_eos ? 0 : status;
}
